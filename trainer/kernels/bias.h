// Adds biases to rows and computes their gradients, if no matrix product does so (gemm.h).
#ifndef TRAINYARD_TRAINER_KERNELS_BIAS_H_
#define TRAINYARD_TRAINER_KERNELS_BIAS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// y += bias in every row.
struct AddBiasArguments {
  const void* bias = nullptr;  // [width] of `type`
  void* y = nullptr;           // [rows, width] of `type`; updated in place
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void AddBias(const AddBiasArguments& arguments, cudaStream_t stream);

// gradient = the sum of dy's rows, or gradient += it.
struct BiasGradientArguments {
  const void* dy = nullptr;    // [rows, width] of `type`
  float* gradient = nullptr;   // [width]
  bool accumulate = false;     // Adds to `gradient` instead of overwriting it.
  float* workspace = nullptr;  // BiasGradientWorkspaceFloats(rows, width) elements
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

// Number of workspace floats; a pure function of the shape.
int64_t BiasGradientWorkspaceFloats(int64_t rows, int64_t width);

// The order of addition depends only on the shape: equal bits in every run.
void BiasGradient(const BiasGradientArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_BIAS_H_
