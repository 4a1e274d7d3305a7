// The groups of ranks along the axes of a layout (proto/layout/rank_order.h), such as data-parallel
// groups.
#ifndef TRAINYARD_TRAINER_PARALLEL_MESH_H_
#define TRAINYARD_TRAINER_PARALLEL_MESH_H_

#include <cstdint>
#include <vector>

#include "proto/contract/layout_config.h"
#include "proto/layout/rank_order.h"

namespace trainyard::trainer {

// Pure and immutable.
class Mesh {
 public:
  // layout.dp must be set, and etp * ep must divide tp * cp * dp. Throws TrainerError(kBadConfig)
  // otherwise.
  explicit Mesh(const LayoutConfig& layout);

  const RankGrid& grid() const { return grid_; }

  // Returns `rank` and those ranks whose coordinates differ from it only along `axes`, in ascending
  // order.
  std::vector<int64_t> RanksAlong(int64_t rank, const std::vector<Axis>& axes) const;

  // Returns `rank` and those ranks that together with it have all experts of a layer once, in
  // ascending order. The first `expert_sizes().etp` of them have the first experts, and so on.
  std::vector<int64_t> RanksSharingExperts(int64_t rank) const;
  // Returns `rank` and those ranks that have the same parts of the same experts, in ascending
  // order.
  std::vector<int64_t> RanksWithSameExperts(int64_t rank) const;
  const ExpertSizes& expert_sizes() const { return expert_sizes_; }

  // The position of `rank` along the pipeline, from 0.
  int64_t StageOf(int64_t rank) const;
  // The position of `rank` along dp, from 0. Ranks with equal positions train on the same samples.
  int64_t DataParallelIndex(int64_t rank) const;

 private:
  RankGrid grid_;
  ExpertSizes expert_sizes_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_MESH_H_
