// The position of each rank in a layout. The layout is a grid with the axes tp, cp, ep, the rest of
// dp, and pp, of which tp varies fastest and pp slowest. Tensor-parallel ranks are therefore
// adjacent and within a node, and pipeline stages are far apart. This is Megatron-LM's default
// order.
#ifndef TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_
#define TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_

#include <array>
#include <cstdint>

namespace trainyard {

// Experts are distributed within data parallelism. Therefore dp is the product of the sizes of
// kExpert and kExpertData.
enum class Axis { kTensor, kContext, kExpert, kExpertData, kPipeline };

inline constexpr int kAxisCount = 5;
using RankCoordinates = std::array<int64_t, kAxisCount>;  // Indexed by Axis.

// The sizes of a layout's axes. ep must divide dp.
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
  // A size below 1 counts as 1. If ep does not divide dp, ep counts as 1.
  explicit RankGrid(const AxisSizes& sizes);

  // The number of ranks in the grid.
  int64_t size() const;
  int64_t Extent(Axis axis) const { return extents_[static_cast<int>(axis)]; }
  RankCoordinates CoordinatesOf(int64_t rank) const;
  int64_t RankAt(const RankCoordinates& coordinates) const;

  // Returns the position along dp, from 0. It combines the positions along kExpert and kExpertData.
  int64_t DataParallelIndex(const RankCoordinates& coordinates) const;

 private:
  RankCoordinates extents_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_
