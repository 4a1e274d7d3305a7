// Joins and splits the heads of latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1.3).
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_LATENT_HEADS_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_LATENT_HEADS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Sizes, and the table of rotary positions. Element i of the rotated elements is paired with
// element i + rotated / 2.
struct LatentHeadShape {
  int64_t rows = 0;
  int64_t length = 0;  // Row r has position r % length.
  int64_t heads = 0;
  int64_t unrotated = 0;
  int64_t rotated = 0;  // Even. Rotated elements follow the unrotated ones.
  int64_t value = 0;
  const float* cos = nullptr;  // [length, rotated / 2]
  const float* sin = nullptr;  // like cos
  ElementType type = ElementType::kBFloat16;
};

struct JoinLatentHeadsArguments {
  LatentHeadShape shape;
  void* query = nullptr;           // [rows, heads, unrotated + rotated]; rotated in place
  void* key = nullptr;             // like query; overwritten
  const void* expanded = nullptr;  // [rows, heads, unrotated + value]
  const void* shared = nullptr;    // [rows, rotated], of all key heads
};

void JoinLatentHeads(const JoinLatentHeadsArguments& arguments, cudaStream_t stream);

// The gradients have the shapes of the tensors of JoinLatentHeadsArguments.
struct SplitLatentHeadsArguments {
  LatentHeadShape shape;
  void* d_query = nullptr;  // Rotated back in place.
  const void* d_key = nullptr;
  void* d_expanded = nullptr;  // The unrotated elements are overwritten; values do not change.
  void* d_shared = nullptr;    // Overwritten by the sum over heads, added in order, in fp32.
};

void SplitLatentHeads(const SplitLatentHeadsArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_LATENT_HEADS_H_
