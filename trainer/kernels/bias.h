// Adds biases to rows, unless a matrix product (gemm.h) adds them, and computes the gradients of
// biases.
#ifndef TRAINYARD_TRAINER_KERNELS_BIAS_H_
#define TRAINYARD_TRAINER_KERNELS_BIAS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Computes y += bias for every row.
struct AddBiasArguments {
  const void* bias = nullptr;  // [width] of `type`
  void* y = nullptr;           // [rows, width] of `type`; updated in place
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void AddBias(const AddBiasArguments& arguments, cudaStream_t stream);

// Sets gradient to the sum of dy's rows, or adds this sum to gradient.
struct BiasGradientArguments {
  const void* dy = nullptr;    // [rows, width] of `type`
  float* gradient = nullptr;   // [width]
  bool accumulate = false;     // True: adds to `gradient`. False: overwrites it.
  float* workspace = nullptr;  // BiasGradientWorkspaceFloats(rows, width) elements
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

// Returns the size of the workspace in floats, which depends only on the shape.
int64_t BiasGradientWorkspaceFloats(int64_t rows, int64_t width);

// The order of additions depends only on the shape, so the result has the same bits in every run.
void BiasGradient(const BiasGradientArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_BIAS_H_
