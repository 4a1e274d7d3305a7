// SwiGLU (Shazeer 2020, arXiv 2002.05202) and its gradient.
#ifndef TRAINYARD_TRAINER_KERNELS_ACTIVATION_H_
#define TRAINYARD_TRAINER_KERNELS_ACTIVATION_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Computes out = silu(gate) * up. A packed row contains [gate, up].
struct SwiGluForwardArguments {
  const void* packed = nullptr;  // [rows, 2 * width] of `type`
  void* out = nullptr;           // [rows, width] of `type`
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void SwiGluForward(const SwiGluForwardArguments& arguments, cudaStream_t stream);

struct SwiGluBackwardArguments {
  const void* dout = nullptr;    // [rows, width] of `type`
  const void* packed = nullptr;  // [rows, 2 * width] of `type`
  void* d_packed = nullptr;      // [rows, 2 * width] of `type`; may be packed
  void* out = nullptr;           // [rows, width] of `type`: recomputed forward result, or null
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void SwiGluBackward(const SwiGluBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ACTIVATION_H_
