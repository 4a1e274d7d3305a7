// Position of each rank in a layout: a grid in the order tp, cp, ep, the rest of dp, pp. tp varies
// fastest, so that tensor-parallel ranks are neighbours inside a node and pipeline stages are far
// apart. This is Megatron-LM's default order.
#ifndef TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_
#define TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_

#include <array>
#include <cstdint>

namespace trainyard {

// Data parallelism is the product of kExpert and kExpertData: experts are distributed within dp.
enum class Axis { kTensor, kContext, kExpert, kExpertData, kPipeline };

inline constexpr int kAxisCount = 5;
using RankCoordinates = std::array<int64_t, kAxisCount>;  // Indexed by Axis.

// Sizes of a layout's axes; ep divides dp.
struct AxisSizes {
  int64_t tp = 1;
  int64_t cp = 1;
  int64_t ep = 1;
  int64_t dp = 1;
  int64_t pp = 1;
};

// Pure and immutable.
class RankGrid {
 public:
  // Sizes below 1 count as 1. If ep does not divide dp, ep counts as 1.
  explicit RankGrid(const AxisSizes& sizes);

  // Number of ranks in the grid.
  int64_t size() const;
  int64_t Extent(Axis axis) const { return extents_[static_cast<int>(axis)]; }
  RankCoordinates CoordinatesOf(int64_t rank) const;
  int64_t RankAt(const RankCoordinates& coordinates) const;

  // Position along dp, from 0: combines its two axes.
  int64_t DataParallelIndex(const RankCoordinates& coordinates) const;

 private:
  RankCoordinates extents_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_
