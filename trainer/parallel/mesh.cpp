#include "trainer/parallel/mesh.h"

#include <algorithm>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// If ep does not divide dp, RankGrid silently uses ep = 1. The run must not start with a layout
// other than the configured one.
RankGrid GridOf(const LayoutConfig& layout) {
  if (layout.dp < 1 || layout.dp % layout.ep != 0) {
    throw TrainerError(ExitCode::kBadConfig,
                       "layout.dp " + std::to_string(layout.dp) +
                           " must be a multiple of layout.ep " + std::to_string(layout.ep) +
                           ", because experts are spread inside the data-parallel group.");
  }
  return RankGrid(
      {.tp = layout.tp, .cp = layout.cp, .ep = layout.ep, .dp = layout.dp, .pp = layout.pp});
}

}  // namespace

Mesh::Mesh(const LayoutConfig& layout) : grid_(GridOf(layout)) {}

std::vector<int64_t> Mesh::RanksAlong(int64_t rank, const std::vector<Axis>& axes) const {
  // For each axis, replaces every member with one member per position along the axis.
  std::vector<RankCoordinates> members = {grid_.CoordinatesOf(rank)};
  for (const Axis axis : axes) {
    std::vector<RankCoordinates> spread;
    for (RankCoordinates member : members) {
      for (int64_t i = 0; i < grid_.Extent(axis); ++i) {
        member[static_cast<int>(axis)] = i;
        spread.push_back(member);
      }
    }
    members = std::move(spread);
  }
  std::vector<int64_t> ranks;
  for (const RankCoordinates& member : members) ranks.push_back(grid_.RankAt(member));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

int64_t Mesh::StageOf(int64_t rank) const {
  return grid_.CoordinatesOf(rank)[static_cast<int>(Axis::kPipeline)];
}

int64_t Mesh::DataParallelIndex(int64_t rank) const {
  return grid_.DataParallelIndex(grid_.CoordinatesOf(rank));
}

}  // namespace trainyard::trainer
