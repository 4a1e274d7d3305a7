// RMSNorm of attention heads, in place within packed rows (Dehghani et al. 2023, arXiv 2302.05442,
// with the RMSNorm of Qwen3, arXiv 2505.09388), and its gradient.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_HEAD_NORM_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_HEAD_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// All heads, in all rows, that share one weight: either the query heads or the key heads.
struct PackedHeads {
  void* first = nullptr;   // First of these heads in the first row; of `type`
  int64_t tokens = 0;      // Rows.
  int64_t row_stride = 0;  // Distance between rows in elements.
  int64_t heads = 0;       // Number of heads per row. They are contiguous.
  int64_t head_size = 0;
  ElementType type = ElementType::kBFloat16;
};

// Replaces each head with head * inverse_rms * weight, where inverse_rms = 1 / sqrt(mean(head^2) +
// epsilon).
struct HeadNormForwardArguments {
  PackedHeads heads;             // Updated in place.
  const void* weight = nullptr;  // [head_size] of the heads' type
  void* kept = nullptr;          // [tokens, heads, head_size]: the heads before the norm, or null
  float* inverse_rms = nullptr;  // [tokens, heads]
  float epsilon = 0;
};

// Supports any head size. Uses 16-byte accesses for heads of up to 256 elements if sizes and
// addresses allow.
void HeadNormForward(const HeadNormForwardArguments& arguments, cudaStream_t stream);

// Replaces each gradient of a head after the norm with the gradient of the head before the norm.
// The weight's gradient, a sum over tokens and heads, overwrites weight_gradient or is added to it.
struct HeadNormBackwardArguments {
  PackedHeads gradients;               // Updated in place.
  const void* kept = nullptr;          // [tokens, heads, head_size], from the forward pass
  const void* weight = nullptr;        // [head_size] of the heads' type
  const float* inverse_rms = nullptr;  // [tokens, heads], from the forward pass
  float* weight_gradient = nullptr;    // [head_size]
  bool accumulate = false;             // True: adds to weight_gradient. False: overwrites it.
  float* workspace = nullptr;          // HeadNormBackwardWorkspaceFloats(...) elements
};

// Returns the size of the workspace in floats, which depends only on the shape. `all_heads` is
// tokens * heads.
int64_t HeadNormBackwardWorkspaceFloats(int64_t all_heads, int64_t head_size);

// The order of additions depends only on the shape, so the result has the same bits in every run.
void HeadNormBackward(const HeadNormBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_HEAD_NORM_H_
