// Applies rotary position embedding (Su et al. 2021, arXiv 2104.09864) in place to packed rows.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_ROTARY_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_ROTARY_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Rotates the first `rotary_size` elements of the first `rotated_heads` heads of every row. Element
// i of a head is paired with element i + rotary_size / 2. The pair is rotated by the angle for i at
// the position of the row. The other elements do not change.
struct RotateArguments {
  void* packed = nullptr;      // [rows, row_heads, head_size] of `type`; updated in place
  const float* cos = nullptr;  // [length, rotary_size / 2]; row r has position r % length
  const float* sin = nullptr;  // like cos
  int64_t rows = 0;
  int64_t length = 0;
  int64_t row_heads = 0;
  int64_t rotated_heads = 0;  // <= row_heads
  int64_t head_size = 0;
  int64_t rotary_size = 0;  // even, <= head_size
  bool back = false;        // True in the backward pass: rotates by the negative angle.
  ElementType type = ElementType::kBFloat16;
};

void Rotate(const RotateArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_ROTARY_H_
