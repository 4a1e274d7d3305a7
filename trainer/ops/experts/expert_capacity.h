// Drops slots of experts that more tokens chose than an expert may process (GShard, arXiv
// 2006.16668, section 2.2). In a tensor of chosen experts, -1 - expert marks a dropped slot. The
// slot sends no row, but the mark still identifies the expert.
#ifndef TRAINYARD_TRAINER_OPS_EXPERTS_EXPERT_CAPACITY_H_
#define TRAINYARD_TRAINER_OPS_EXPERTS_EXPERT_CAPACITY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/tensors/capacity_form.h"

namespace trainyard::trainer {

// Marks the slots that are dropped. `experts` is int64 [sequences, tokens, topk], with the tokens
// of a sequence in order and the experts of a token all different. `weights` has the same shape.
// Each expert keeps the tokens with the highest weights, and among equal weights the first tokens.
// If `weights` is undefined, each expert keeps its first tokens.
torch::Tensor DropAboveCapacity(const torch::Tensor& experts, const torch::Tensor& weights,
                                const CapacityForm& form);

// Returns the experts without marks.
torch::Tensor WithoutMarks(const torch::Tensor& experts);

// Returns the number of slots of each expert that are not dropped, int64 [count].
torch::Tensor CountKeptRows(const torch::Tensor& experts, int64_t count);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERTS_EXPERT_CAPACITY_H_
