// Elements of a tensor as passed by reads of a checkpoint.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_ELEMENT_ROWS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_ELEMENT_ROWS_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>

namespace trainyard::trainer {

// Elements of a box that are read together. Element [r, i] of `rows` is element number
// first + r * stride + i of the box, in row-major order. There are gaps if a matrix was stored in
// parts.
struct ElementRows {
  int64_t first = 0;
  int64_t stride = 0;
  torch::Tensor rows;  // [n, length], on a CPU, of the stored dtype; may have gaps between rows.

  // Elements from the first to the last, including gaps.
  int64_t span() const { return (rows.size(0) - 1) * stride + rows.size(1); }
  // These elements within a one-dimensional tensor whose element 0 has number `first`.
  torch::Tensor PlacesIn(const torch::Tensor& flat) const {
    return flat.as_strided(rows.sizes(), {stride, 1}, flat.storage_offset());
  }
};

// Copies the rows to a device in one copy, including the gaps; many small copies take longer.
torch::Tensor RowsOn(const ElementRows& elements, torch::Device device);

// Receives elements of a box, which are valid only during the call. Each element is passed once.
// Several threads call it concurrently, with different elements.
using ElementSink = std::function<void(const ElementRows& elements)>;

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_ELEMENT_ROWS_H_
