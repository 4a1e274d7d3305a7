// Computes the position of a rank in the parallel layout of its job (proto/layout/rank_order.h).
#ifndef TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
#define TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// The index of a rank along each axis of the layout, from 0. There is no index for expert
// parallelism, because expert parallelism divides the ranks of tp, cp and dp in a second way.
struct RankPosition {
  int tp = 0;  // tensor parallel
  int cp = 0;  // context parallel
  int dp = 0;  // data parallel
  int pp = 0;  // pipeline stage
};

// Returns the position of `rank`. A size that is not set in `layout` counts as 1.
RankPosition RankPositionOf(int rank, const v1::LayoutSpec& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
