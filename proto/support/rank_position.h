// Position of a rank in the layout of its job (proto/contract/rank_order.h), for messages.
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

// Sizes that are not set count as 1.
RankPosition RankPositionOf(int rank, const v1::LayoutSpec& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_RANK_POSITION_H_
