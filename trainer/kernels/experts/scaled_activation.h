// SwiGLU of rows. The result of each row is multiplied by a number. In a layer with experts, this
// number is the weight of the row's expert.
#ifndef TRAINYARD_TRAINER_KERNELS_EXPERTS_SCALED_ACTIVATION_H_
#define TRAINYARD_TRAINER_KERNELS_EXPERTS_SCALED_ACTIVATION_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Computes out = silu(gate) * up * scale. A packed row contains [gate, up].
struct ScaledSwiGluForwardArguments {
  const void* packed = nullptr;   // [rows, 2 * width] of `type`
  const float* scales = nullptr;  // [rows]
  void* out = nullptr;            // [rows, width] of `type`
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void ScaledSwiGluForward(const ScaledSwiGluForwardArguments& arguments, cudaStream_t stream);

struct ScaledSwiGluBackwardArguments {
  const void* dout = nullptr;     // [rows, width] of `type`
  const void* packed = nullptr;   // [rows, 2 * width] of `type`
  const float* scales = nullptr;  // [rows]
  void* d_packed = nullptr;       // [rows, 2 * width] of `type`; may be packed
  void* out = nullptr;            // [rows, width] of `type`: recomputed forward result, or null
  float* d_scales = nullptr;      // [rows]: the products of dout and the unscaled result, added up
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

// The order of the sum over a row depends only on the shape.
void ScaledSwiGluBackward(const ScaledSwiGluBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EXPERTS_SCALED_ACTIVATION_H_
