// Drops the slots of experts that more tokens chose than they may process (GShard, arXiv
// 2006.16668, section 2.2). Tensors of chosen experts mark a dropped slot by -1 - expert: the slot
// sends no row, and the expert is still known.
#ifndef TRAINYARD_TRAINER_OPS_EXPERT_CAPACITY_H_
#define TRAINYARD_TRAINER_OPS_EXPERT_CAPACITY_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

struct CapacityForm {
  int64_t experts = 0;
  int64_t capacity = 0;  // Tokens of one sequence that an expert processes at most.
};

// Marks the slots that are dropped. `experts` is int64 [sequences, tokens, topk], with the tokens
// of a sequence in order and the experts of a token all different. `weights` has the same shape:
// each expert keeps the tokens with the highest weights. Of equal weights, the first tokens are
// kept. If `weights` is undefined, each expert keeps its first tokens.
torch::Tensor DropAboveCapacity(const torch::Tensor& experts, const torch::Tensor& weights,
                                const CapacityForm& form);

// Returns the experts without marks.
torch::Tensor WithoutMarks(const torch::Tensor& experts);

// Returns the number of slots of each expert that are not dropped, int64 [count].
torch::Tensor CountKeptRows(const torch::Tensor& experts, int64_t count);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERT_CAPACITY_H_
