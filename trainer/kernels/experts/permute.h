// Moves rows between the order of tokens and the order of experts.
#ifndef TRAINYARD_TRAINER_KERNELS_EXPERTS_PERMUTE_H_
#define TRAINYARD_TRAINER_KERNELS_EXPERTS_PERMUTE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Copies the row of each token to the places of its slots. Each row of `sorted` must be the place
// of one slot. Slots with places outside `sorted` are ignored.
struct GatherRowsArguments {
  const void* x = nullptr;          // [tokens, width] of `type`
  const int64_t* places = nullptr;  // [tokens, topk]
  void* sorted = nullptr;           // [rows, width] of `type`
  int64_t tokens = 0;
  int64_t topk = 0;
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void GatherRows(const GatherRowsArguments& arguments, cudaStream_t stream);

// Computes y = the sum of the rows at the places of the token's slots, in the order of the slots, +
// residual. Slots with places outside `sorted` add nothing. Sums are fp32 and are rounded once.
struct SumSlotsArguments {
  const void* sorted = nullptr;     // [rows, width] of `type`
  const int64_t* places = nullptr;  // [tokens, topk]
  const void* residual = nullptr;   // [tokens, width] of `type`, or null
  void* y = nullptr;                // [tokens, width] of `type`; may be residual
  int64_t tokens = 0;
  int64_t topk = 0;
  int64_t rows = 0;
  int64_t width = 0;
  ElementType type = ElementType::kBFloat16;
};

void SumSlots(const SumSlotsArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EXPERTS_PERMUTE_H_
