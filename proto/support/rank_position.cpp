#include "proto/support/rank_position.h"

#include <algorithm>

namespace trainyard {

RankPosition RankPositionOf(int rank, const v1::LayoutSpec& layout) {
  int rest = rank;
  const auto take = [&rest](int size) {
    const int index = rest % std::max(size, 1);
    rest /= std::max(size, 1);
    return index;
  };
  RankPosition position;
  position.tp = take(layout.tp());
  position.cp = take(layout.cp());
  position.dp = take(layout.dp());
  position.pp = rest;
  return position;
}

}  // namespace trainyard
