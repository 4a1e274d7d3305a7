#include "proto/layout/rank_order.h"

#include <algorithm>

namespace trainyard {

RankGrid::RankGrid(const AxisSizes& sizes) {
  const auto at_least_one = [](int64_t size) { return std::max<int64_t>(size, 1); };
  extents_ = {at_least_one(sizes.tp), at_least_one(sizes.cp), at_least_one(sizes.dp),
              at_least_one(sizes.pp)};
}

int64_t RankGrid::size() const {
  int64_t product = 1;
  for (const int64_t extent : extents_) product *= extent;
  return product;
}

RankCoordinates RankGrid::CoordinatesOf(int64_t rank) const {
  RankCoordinates coordinates;
  for (int axis = 0; axis < kAxisCount; ++axis) {
    coordinates[axis] = rank % extents_[axis];
    rank /= extents_[axis];
  }
  return coordinates;
}

int64_t RankGrid::RankAt(const RankCoordinates& coordinates) const {
  int64_t rank = 0;
  for (int axis = kAxisCount - 1; axis >= 0; --axis) {
    rank = rank * extents_[axis] + coordinates[axis];
  }
  return rank;
}

ExpertSizes ExpertSizesOf(const LayoutConfig& layout) {
  const int64_t ranks = layout.tp * layout.cp * std::max<int64_t>(layout.dp, 1);
  ExpertSizes sizes{.etp = layout.etp == 0 ? layout.tp : layout.etp, .ep = layout.ep};
  sizes.edp = ranks / sizes.ranks();
  return sizes;
}

}  // namespace trainyard
