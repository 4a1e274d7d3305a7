// RMSNorm (Zhang and Sennrich 2019, arXiv 1910.07467) and its gradient. Both kernels read the rows
// in one pass.
#ifndef TRAINYARD_TRAINER_KERNELS_NORMS_NORM_H_
#define TRAINYARD_TRAINER_KERNELS_NORMS_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Computes y = x * inverse_rms * weight, where inverse_rms = 1 / sqrt(mean(x^2) + epsilon).
struct RmsNormForwardArguments {
  const void* x = nullptr;       // [rows, width] of `type`
  const void* weight = nullptr;  // [width] of `type`
  void* y = nullptr;             // [rows, width] of `type`
  float* inverse_rms = nullptr;  // [rows]
  int64_t rows = 0;
  int64_t width = 0;
  float epsilon = 0;
  ElementType type = ElementType::kBFloat16;
};

// Supports any width. Uses 16-byte accesses if width and addresses allow.
void RmsNormForward(const RmsNormForwardArguments& arguments, cudaStream_t stream);

// Let n = x * inverse_rms. Then dx = (dy * weight - n * mean(dy * weight * n)) * inverse_rms +
// residual_gradient. The gradient of the weight, the sum over rows of dy * n, overwrites
// weight_gradient or is added to it.
struct RmsNormBackwardArguments {
  const void* dy = nullptr;                 // [rows, width] of `type`
  const void* x = nullptr;                  // [rows, width] of `type`
  const void* weight = nullptr;             // [width] of `type`
  const float* inverse_rms = nullptr;       // [rows], from the forward pass
  const void* residual_gradient = nullptr;  // [rows, width] of `type`, or null
  void* dx = nullptr;                       // [rows, width]; may be dy or residual_gradient
  float* weight_gradient = nullptr;         // [width]
  bool accumulate = false;                  // True: adds to weight_gradient. False: overwrites it.
  float* workspace = nullptr;               // RmsNormBackwardWorkspaceFloats(rows, width) elements
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

// Returns the size of the workspace in floats, which depends only on the shape.
int64_t RmsNormBackwardWorkspaceFloats(int64_t rows, int64_t width);

// The order of the sum over rows depends only on the shape, so the result has the same bits in
// every run.
void RmsNormBackward(const RmsNormBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_NORMS_NORM_H_
