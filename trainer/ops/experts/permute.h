// Rows sorted by expert. Every token has `topk` slots, one for each of its experts, and each slot
// is one sorted row. No sum depends on the order in which parts of a device finish, so every run
// has the same bits.
#ifndef TRAINYARD_TRAINER_OPS_EXPERTS_PERMUTE_H_
#define TRAINYARD_TRAINER_OPS_EXPERTS_PERMUTE_H_

#include <torch/types.h>

#include "trainer/ops/tensors/expert_order.h"

namespace trainyard::trainer {

// Sorts the slots by expert; slots of one expert stay in the order of tokens. `experts` is int64
// [tokens, topk]. Dropped slots (expert_capacity.h) follow all others. The caller shortens the
// result's `tokens` to the existing rows, so that dropped slots have places after the last row.
ExpertOrder SortByExpert(const torch::Tensor& experts);

// Sets `sorted`, [rows, width], to the rows of x, [tokens, width]. Is the gradient of SumSlots.
void GatherRows(const torch::Tensor& x, const ExpertOrder& order, torch::Tensor& sorted);

// Sets y, [tokens, width], to residual + the sum of the token's sorted rows, added in the order of
// its slots in the compute type. Slots with places after the last row add nothing. `residual` may
// be undefined; y may share its memory. Is the gradient of GatherRows.
void SumSlots(const torch::Tensor& sorted, const ExpertOrder& order, const torch::Tensor& residual,
              torch::Tensor& y);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERTS_PERMUTE_H_
