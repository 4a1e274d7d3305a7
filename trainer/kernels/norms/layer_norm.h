// Layer normalization (Ba, Kiros and Hinton 2016, arXiv 1607.06450) and its gradient.
#ifndef TRAINYARD_TRAINER_KERNELS_NORMS_LAYER_NORM_H_
#define TRAINYARD_TRAINER_KERNELS_NORMS_LAYER_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Computes y = (x - mean) * inverse_std * weight + bias for each row, where inverse_std = 1 /
// sqrt(variance + epsilon). Weight and bias are optional.
struct LayerNormForwardArguments {
  const void* x = nullptr;       // [rows, width] of `type`
  const void* weight = nullptr;  // [width] of `type`, or null for ones
  const void* bias = nullptr;    // [width] of `type`, or null for zeros
  void* y = nullptr;             // [rows, width] of `type`
  float* mean = nullptr;         // [rows]
  float* inverse_std = nullptr;  // [rows]
  int64_t rows = 0;
  int64_t width = 0;
  float epsilon = 0;
  ElementType type = ElementType::kBFloat16;
};

// Supports any width. Uses 16-byte accesses if width and addresses allow.
void LayerNormForward(const LayerNormForwardArguments& arguments, cudaStream_t stream);

// Let n = (x - mean) * inverse_std and g = dy * weight. Then dx = (g - mean(g) - n * mean(g * n)) *
// inverse_std + residual_gradient. The gradient of the weight is the sum over rows of dy * n, and
// the gradient of the bias is the sum over rows of dy. These sums overwrite weight_gradient and
// bias_gradient, or are added to them.
struct LayerNormBackwardArguments {
  const void* dy = nullptr;                 // [rows, width] of `type`
  const void* x = nullptr;                  // [rows, width] of `type`
  const void* weight = nullptr;             // [width] of `type`, or null for ones
  const float* mean = nullptr;              // [rows], from the forward pass
  const float* inverse_std = nullptr;       // [rows], from the forward pass
  const void* residual_gradient = nullptr;  // [rows, width] of `type`, or null
  void* dx = nullptr;                       // [rows, width]; may be dy or residual_gradient
  float* weight_gradient = nullptr;         // [width], or null if not wanted
  float* bias_gradient = nullptr;           // [width], or null if not wanted
  bool accumulate_weight = false;           // True: adds to weight_gradient. False: overwrites it.
  bool accumulate_bias = false;
  float* workspace = nullptr;  // LayerNormBackwardWorkspaceFloats(); null if no gradient is wanted.
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

// Returns the size of the workspace in floats, which depends only on the shape.
int64_t LayerNormBackwardWorkspaceFloats(int64_t rows, int64_t width);

// The order of the sums over rows depends only on the shape, so the result has the same bits in
// every run.
void LayerNormBackward(const LayerNormBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_NORMS_LAYER_NORM_H_
