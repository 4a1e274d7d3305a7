// RMSNorm of attention heads within packed rows, in place (Dehghani et al. 2023, arXiv 2302.05442,
// with the RMSNorm of Qwen3, arXiv 2505.09388), and its gradient.
#ifndef TRAINYARD_TRAINER_KERNELS_HEAD_NORM_H_
#define TRAINYARD_TRAINER_KERNELS_HEAD_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Heads of every token's row that share a weight: those of the queries, or those of the keys.
struct PackedHeads {
  void* first = nullptr;   // First of the heads in the first row; of `type`
  int64_t tokens = 0;      // Rows.
  int64_t row_stride = 0;  // Elements from one row to the next.
  int64_t heads = 0;       // Heads of a row, one behind the other.
  int64_t head_size = 0;
  ElementType type = ElementType::kBFloat16;
};

// Each head becomes head * inverse_rms * weight with inverse_rms = 1 / sqrt(mean(head^2) +
// epsilon).
struct HeadNormForwardArguments {
  PackedHeads heads;             // Changed in place.
  const void* weight = nullptr;  // [head_size] of the heads' type
  void* kept = nullptr;          // [tokens, heads, head_size]: the heads as they were, or null
  float* inverse_rms = nullptr;  // [tokens, heads]
  float epsilon = 0;
};

// Any head size; 16-byte accesses up to 256 elements where sizes and addresses allow them.
void HeadNormForward(const HeadNormForwardArguments& arguments, cudaStream_t stream);

// The gradients become those of the heads before; weight_gradient = or += the sum over tokens and
// heads.
struct HeadNormBackwardArguments {
  PackedHeads gradients;               // Changed in place.
  const void* kept = nullptr;          // [tokens, heads, head_size], from the forward pass
  const void* weight = nullptr;        // [head_size] of the heads' type
  const float* inverse_rms = nullptr;  // [tokens, heads], from the forward pass
  float* weight_gradient = nullptr;    // [head_size]
  bool accumulate = false;             // Adds to weight_gradient, else overwrites it.
  float* workspace = nullptr;          // HeadNormBackwardWorkspaceFloats(...) elements
};

// Floats of workspace; a pure function of the shape. all_heads: tokens * heads.
int64_t HeadNormBackwardWorkspaceFloats(int64_t all_heads, int64_t head_size);

// The sum is taken in an order that depends on the shape only: equal bits in every run.
void HeadNormBackward(const HeadNormBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_HEAD_NORM_H_
