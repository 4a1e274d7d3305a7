// In-place RMSNorm of attention heads within packed rows (Dehghani et al. 2023, arXiv 2302.05442,
// with the RMSNorm of Qwen3, arXiv 2505.09388), and its gradient.
#ifndef TRAINYARD_TRAINER_KERNELS_HEAD_NORM_H_
#define TRAINYARD_TRAINER_KERNELS_HEAD_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Heads of all rows that share a weight: those of the queries, or those of the keys.
struct PackedHeads {
  void* first = nullptr;   // First head in the first row; of `type`
  int64_t tokens = 0;      // Rows.
  int64_t row_stride = 0;  // Elements from one row to the next.
  int64_t heads = 0;       // Heads per row, contiguous.
  int64_t head_size = 0;
  ElementType type = ElementType::kBFloat16;
};

// Replaces each head by head * inverse_rms * weight, with inverse_rms = 1 / sqrt(mean(head^2) +
// epsilon).
struct HeadNormForwardArguments {
  PackedHeads heads;             // Updated in place.
  const void* weight = nullptr;  // [head_size] of the heads' type
  void* kept = nullptr;          // [tokens, heads, head_size]: heads before the norm, or null
  float* inverse_rms = nullptr;  // [tokens, heads]
  float epsilon = 0;
};

// Any head size. Uses 16-byte accesses for up to 256 elements if sizes and addresses allow.
void HeadNormForward(const HeadNormForwardArguments& arguments, cudaStream_t stream);

// Replaces the gradients by those of the heads before the norm. weight_gradient is set to the sum
// over tokens and heads, or that sum is added to it.
struct HeadNormBackwardArguments {
  PackedHeads gradients;               // Updated in place.
  const void* kept = nullptr;          // [tokens, heads, head_size], from the forward pass
  const void* weight = nullptr;        // [head_size] of the heads' type
  const float* inverse_rms = nullptr;  // [tokens, heads], from the forward pass
  float* weight_gradient = nullptr;    // [head_size]
  bool accumulate = false;             // Adds to weight_gradient instead of overwriting it.
  float* workspace = nullptr;          // HeadNormBackwardWorkspaceFloats(...) elements
};

// Number of workspace floats; a pure function of the shape. all_heads: tokens * heads.
int64_t HeadNormBackwardWorkspaceFloats(int64_t all_heads, int64_t head_size);

// The order of addition depends only on the shape: equal bits in every run.
void HeadNormBackward(const HeadNormBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_HEAD_NORM_H_
