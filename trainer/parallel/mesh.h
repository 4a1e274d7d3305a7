// Where a rank stands in the layout: a grid with the order tp, cp, ep, rest of dp, pp (tp fastest),
// so that tensor-parallel groups are neighbours inside a node and pipeline stages are far apart.
#ifndef TRAINYARD_TRAINER_PARALLEL_MESH_H_
#define TRAINYARD_TRAINER_PARALLEL_MESH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/config/run_config.h"

namespace trainyard::trainer {

// Data parallelism is the product of kExpert and kExpertData: experts are spread inside dp.
enum class Axis { kTensor, kContext, kExpert, kExpertData, kPipeline };

inline constexpr int kAxisCount = 5;
using MeshCoordinates = std::array<int64_t, kAxisCount>;  // Indexed by Axis.

// Pure and immutable.
class Mesh {
 public:
  // layout.dp must be set and a multiple of layout.ep, else TrainerError(kBadConfig).
  explicit Mesh(const LayoutConfig& layout);

  int64_t size() const;
  int64_t Extent(Axis axis) const { return extents_[static_cast<int>(axis)]; }
  MeshCoordinates CoordinatesOf(int64_t rank) const;
  int64_t RankAt(const MeshCoordinates& coordinates) const;

  // The ranks that differ from `rank` along these axes only, ascending; `rank` is one of them.
  std::vector<int64_t> RanksAlong(int64_t rank, const std::vector<Axis>& axes) const;

  // The ranks that hold the same parameters as `rank` and see other samples.
  std::vector<int64_t> DataParallelRanks(int64_t rank) const;
  // Position of `rank` among them, from 0.
  int64_t DataParallelIndex(int64_t rank) const;

 private:
  MeshCoordinates extents_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_MESH_H_
