// Sorts the slots of tokens by expert. Every token has `topk` slots, one for each of its experts.
#ifndef TRAINYARD_TRAINER_KERNELS_EXPERTS_SLOT_ORDER_H_
#define TRAINYARD_TRAINER_KERNELS_EXPERTS_SLOT_ORDER_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer::kernels {

// The largest number of experts that routing and sorting support.
inline constexpr int64_t kMaxExperts = 512;

// Throws KernelError if `experts` is above kMaxExperts.
inline void CheckExpertCount(int64_t experts) {
  if (experts <= kMaxExperts) return;
  throw KernelError("more than " + std::to_string(kMaxExperts) + " experts are not supported");
}

struct SlotOrderArguments {
  const int64_t* experts = nullptr;  // [slots]; below kMaxExperts, or negative for a dropped slot
  int64_t* tokens = nullptr;         // [slots]: the token of each sorted row
  int64_t* places = nullptr;         // [slots]: the sorted row of each slot
  void* workspace = nullptr;         // SlotOrderWorkspaceBytes(slots) bytes
  int64_t slots = 0;                 // Tokens * topk, below 2^31.
  int64_t topk = 1;
};

// Returns the size of the workspace in bytes, which depends only on the number of slots.
size_t SlotOrderWorkspaceBytes(int64_t slots);

// The sort is stable: slots of one expert stay in the order of tokens. Dropped slots follow all
// others. No slot has a place that depends on the order in which blocks run.
void SlotOrder(const SlotOrderArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EXPERTS_SLOT_ORDER_H_
