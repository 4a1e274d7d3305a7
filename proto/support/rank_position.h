// Position of a rank in the parallel layout of its job (proto/layout/rank_order.h).
#ifndef TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
#define TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Index along each axis, from 0. Expert parallelism is inside dp, so it has no index of its own.
struct RankPosition {
  int tp = 0;  // tensor parallel
  int cp = 0;  // context parallel
  int dp = 0;  // data parallel
  int pp = 0;  // pipeline stage
};

// Sizes not set in `layout` count as 1.
RankPosition RankPositionOf(int rank, const v1::LayoutSpec& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
