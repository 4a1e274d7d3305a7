#include "trainer/parallel/mesh.h"

#include <algorithm>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

ExpertSizes CheckedExpertSizes(const LayoutConfig& layout) {
  const ExpertSizes sizes = ExpertSizesOf(layout);
  const int64_t ranks = layout.tp * layout.cp * layout.dp;
  if (layout.dp < 1 || sizes.ranks() * sizes.edp != ranks) {
    throw TrainerError(ExitCode::kBadConfig,
                       "tp * cp * dp (" + std::to_string(ranks) +
                           ") must be a positive multiple of etp * ep (" +
                           std::to_string(sizes.ranks()) +
                           "), because the ranks of a stage divide the experts among themselves.");
  }
  return sizes;
}

}  // namespace

Mesh::Mesh(const LayoutConfig& layout)
    : grid_({.tp = layout.tp, .cp = layout.cp, .dp = layout.dp, .pp = layout.pp}),
      expert_sizes_(CheckedExpertSizes(layout)) {}

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

std::vector<int64_t> Mesh::RanksSharingExperts(int64_t rank) const {
  std::vector<int64_t> ranks(expert_sizes_.ranks());
  const int64_t size = expert_sizes_.ranks();
  for (int64_t i = 0; i < size; ++i) ranks[i] = rank / size * size + i;
  return ranks;
}

std::vector<int64_t> Mesh::RanksWithSameExperts(int64_t rank) const {
  const int64_t size = expert_sizes_.ranks(), of_stage = size * expert_sizes_.edp;
  std::vector<int64_t> ranks(expert_sizes_.edp);
  const int64_t first = rank / of_stage * of_stage + rank % size;
  for (int64_t i = 0; i < expert_sizes_.edp; ++i) ranks[i] = first + i * size;
  return ranks;
}

int64_t Mesh::StageOf(int64_t rank) const {
  return grid_.CoordinatesOf(rank)[static_cast<int>(Axis::kPipeline)];
}

int64_t Mesh::DataParallelIndex(int64_t rank) const {
  return grid_.CoordinatesOf(rank)[static_cast<int>(Axis::kData)];
}

}  // namespace trainyard::trainer
