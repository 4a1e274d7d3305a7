#include "proto/layout/rank_order.h"

#include <algorithm>

namespace trainyard {

RankGrid::RankGrid(const AxisSizes& sizes) {
  const auto at_least_one = [](int64_t size) { return std::max<int64_t>(size, 1); };
  const int64_t dp = at_least_one(sizes.dp);
  const int64_t ep = dp % at_least_one(sizes.ep) == 0 ? at_least_one(sizes.ep) : 1;
  extents_ = {at_least_one(sizes.tp), at_least_one(sizes.cp), ep, dp / ep, at_least_one(sizes.pp)};
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

int64_t RankGrid::DataParallelIndex(const RankCoordinates& coordinates) const {
  return coordinates[static_cast<int>(Axis::kExpertData)] * Extent(Axis::kExpert) +
         coordinates[static_cast<int>(Axis::kExpert)];
}

}  // namespace trainyard
