// Drops slots of overloaded experts, which more tokens chose than an expert may process.
#ifndef TRAINYARD_TRAINER_KERNELS_EXPERTS_EXPERT_CAPACITY_H_
#define TRAINYARD_TRAINER_KERNELS_EXPERTS_EXPERT_CAPACITY_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace trainyard::trainer::kernels {

// Sets marked[s] to experts[s], or to -1 - experts[s] if the slot is dropped. In each sequence, an
// expert keeps the `capacity` slots with the highest weights, and among equal weights the first
// slots. Weights must be >= 0. If `weights` is null, an expert keeps its first slots.
struct DropAboveCapacityArguments {
  const int64_t* experts = nullptr;  // [sequences, slots]; each from 0 to expert_count - 1
  const float* weights = nullptr;    // [sequences, slots], or null
  int64_t* marked = nullptr;         // [sequences, slots]
  int64_t sequences = 0;
  int64_t slots = 0;  // of one sequence
  int64_t expert_count = 0;
  int64_t capacity = 0;  // >= 1
};

// Adds only integers atomically, so the result is the same in every run.
void DropAboveCapacity(const DropAboveCapacityArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_EXPERTS_EXPERT_CAPACITY_H_
