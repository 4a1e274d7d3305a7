#include "trainer/parallel/mesh.h"

#include <algorithm>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

Mesh::Mesh(const LayoutConfig& layout) {
  if (layout.dp < 1 || layout.dp % layout.ep != 0) {
    throw TrainerError(ExitCode::kBadConfig,
                       "layout.dp " + std::to_string(layout.dp) +
                           " must be a multiple of layout.ep " + std::to_string(layout.ep) +
                           ": experts are spread inside the data-parallel group.");
  }
  extents_ = {layout.tp, layout.cp, layout.ep, layout.dp / layout.ep, layout.pp};
}

int64_t Mesh::size() const {
  int64_t product = 1;
  for (const int64_t extent : extents_) product *= extent;
  return product;
}

MeshCoordinates Mesh::CoordinatesOf(int64_t rank) const {
  MeshCoordinates coordinates;
  for (int axis = 0; axis < kAxisCount; ++axis) {
    coordinates[axis] = rank % extents_[axis];
    rank /= extents_[axis];
  }
  return coordinates;
}

int64_t Mesh::RankAt(const MeshCoordinates& coordinates) const {
  int64_t rank = 0;
  for (int axis = kAxisCount - 1; axis >= 0; --axis) {
    rank = rank * extents_[axis] + coordinates[axis];
  }
  return rank;
}

std::vector<int64_t> Mesh::RanksAlong(int64_t rank, const std::vector<Axis>& axes) const {
  std::vector<MeshCoordinates> members = {CoordinatesOf(rank)};
  for (const Axis axis : axes) {
    std::vector<MeshCoordinates> spread;
    for (MeshCoordinates member : members) {
      for (int64_t i = 0; i < Extent(axis); ++i) {
        member[static_cast<int>(axis)] = i;
        spread.push_back(member);
      }
    }
    members = std::move(spread);
  }
  std::vector<int64_t> ranks;
  for (const MeshCoordinates& member : members) ranks.push_back(RankAt(member));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<int64_t> Mesh::DataParallelRanks(int64_t rank) const {
  return RanksAlong(rank, {Axis::kExpert, Axis::kExpertData});
}

int64_t Mesh::DataParallelIndex(int64_t rank) const {
  const std::vector<int64_t> ranks = DataParallelRanks(rank);
  return std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
}

}  // namespace trainyard::trainer
