// Where a rank stands in the layout of its job.
#ifndef TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
#define TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

struct RankPosition {
  int tp = 0;
  int cp = 0;
  int dp = 0;
  int pp = 0;
};

// tp varies fastest, then cp, dp, pp: the order of the trainer's mesh. Sizes that are not set
// are 1.
RankPosition RankPositionOf(int rank, const v1::LayoutSpec& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
