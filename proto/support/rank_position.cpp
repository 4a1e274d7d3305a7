#include "proto/support/rank_position.h"

#include "proto/layout/rank_order.h"

namespace trainyard {

RankPosition RankPositionOf(int rank, const v1::LayoutSpec& layout) {
  const RankGrid grid({.tp = layout.tp(), .cp = layout.cp(), .dp = layout.dp(), .pp = layout.pp()});
  const RankCoordinates at = grid.CoordinatesOf(rank);
  const auto along = [&at](Axis axis) { return static_cast<int>(at[static_cast<int>(axis)]); };
  return {.tp = along(Axis::kTensor),
          .cp = along(Axis::kContext),
          .dp = along(Axis::kData),
          .pp = along(Axis::kPipeline)};
}

}  // namespace trainyard
