// The elements that a read of a checkpoint passes to its sink.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_ELEMENT_ROWS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_ELEMENT_ROWS_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>

namespace trainyard::trainer {

// Elements of a box that were read together. Element [r, i] of `rows` is element number first + r *
// stride + i of the box, in row-major order. If a matrix was stored in parts, the box has gaps
// between the rows: elements that do not belong to this read.
struct ElementRows {
  int64_t first = 0;
  int64_t stride = 0;
  torch::Tensor rows;  // [n, length], on a CPU, in the stored dtype; gaps between rows possible.

  // Returns the number of elements from the first to the last, including gaps.
  int64_t span() const { return (rows.size(0) - 1) * stride + rows.size(1); }
  // Returns a view of these elements in `flat`, a one-dimensional tensor whose element 0 is element
  // number `first` of the box.
  torch::Tensor PlacesIn(const torch::Tensor& flat) const {
    return flat.as_strided(rows.sizes(), {stride, 1}, flat.storage_offset());
  }
};

// Copies the rows, including the gaps, to a device in one operation, because many small copies
// would take longer.
torch::Tensor RowsOn(const ElementRows& elements, torch::Device device);

// Receives elements of a box. They are valid only during the call. Each element is passed once.
// Several threads may call the sink concurrently, with different elements.
using ElementSink = std::function<void(const ElementRows& elements)>;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_ELEMENT_ROWS_H_
