// The position of each rank in a layout. The layout is a grid with the axes tp, cp, dp, and pp, of
// which tp varies fastest and pp slowest. Tensor-parallel ranks are therefore neighbours inside a
// node, and pipeline stages are far apart. The order is Megatron-LM's default.
//
// Experts divide the tp * cp * dp ranks of a stage in a second way: into etp * ep * edp, of which
// etp varies fastest and edp slowest (MoE parallel folding, Liu et al. 2025, arXiv 2504.14960).
#ifndef TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_
#define TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_

#include <array>
#include <cstdint>

#include "proto/contract/layout_config.h"

namespace trainyard {

enum class Axis { kTensor, kContext, kData, kPipeline };

inline constexpr int kAxisCount = 4;
using RankCoordinates = std::array<int64_t, kAxisCount>;  // Indexed by Axis.

// The sizes of a layout's axes.
struct AxisSizes {
  int64_t tp = 1;
  int64_t cp = 1;
  int64_t dp = 1;
  int64_t pp = 1;
};

// Pure and immutable.
class RankGrid {
 public:
  // A size below 1 counts as 1.
  explicit RankGrid(const AxisSizes& sizes);

  // The number of ranks in the grid.
  int64_t size() const;
  int64_t Extent(Axis axis) const { return extents_[static_cast<int>(axis)]; }
  RankCoordinates CoordinatesOf(int64_t rank) const;
  int64_t RankAt(const RankCoordinates& coordinates) const;

 private:
  RankCoordinates extents_;
};

// The division of a layer's experts among the ranks of a stage.
struct ExpertSizes {
  int64_t etp = 1;  // Each expert is divided into this many parts.
  int64_t ep = 1;   // The experts are divided among this many groups of etp ranks.
  int64_t edp = 1;  // Each part of an expert is on this many ranks.

  // The number of ranks that together have all experts once. These ranks are neighbours.
  int64_t ranks() const { return etp * ep; }
};

// Returns the sizes for layout.tp, cp, dp, ep and etp. An etp of 0 counts as tp, and a dp of 0
// as 1. edp is rounded down.
ExpertSizes ExpertSizesOf(const LayoutConfig& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_LAYOUT_RANK_ORDER_H_
