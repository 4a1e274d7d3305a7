// Rows sorted by expert, as segments of neighboring rows.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ROW_SEGMENTS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ROW_SEGMENTS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace trainyard::trainer {

// The number of rows of each expert, in host memory. The rows of an expert follow those of the
// preceding expert. A count may be 0. The counts add up to the number of rows.
using RowSegments = std::vector<int64_t>;

// Calls visit(expert, first row, number of rows) for every expert.
template <typename Visit>
void ForEachSegment(const RowSegments& segments, int64_t rows, const Visit& visit) {
  int64_t first = 0;
  for (size_t expert = 0; expert < segments.size(); ++expert) {
    visit(static_cast<int64_t>(expert), first, segments[expert]);
    first += segments[expert];
  }
  TORCH_CHECK(first == rows, "the experts have ", first, " of ", rows, " rows");
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ROW_SEGMENTS_H_
