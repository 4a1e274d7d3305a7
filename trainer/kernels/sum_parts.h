// Adds the parts of a sum over ranks.
#ifndef TRAINYARD_TRAINER_KERNELS_SUM_PARTS_H_
#define TRAINYARD_TRAINER_KERNELS_SUM_PARTS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

inline constexpr int64_t kMaxSumParts = 8;

// Sets sum to the parts, added in fp32 in their order and rounded once. If there is a residual, it
// is added to the rounded sum, and the result is rounded again.
struct SumPartsArguments {
  const void* parts[kMaxSumParts] = {};  // Each [elements] of `type`.
  int64_t count = 0;                     // The number of parts, from 1 to kMaxSumParts.
  const void* residual = nullptr;        // [elements] of `type`; may be null.
  void* sum = nullptr;                   // [elements] of `type`; may equal an input.
  int64_t elements = 0;
  ElementType type = ElementType::kBFloat16;
};

void SumParts(const SumPartsArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_SUM_PARTS_H_
