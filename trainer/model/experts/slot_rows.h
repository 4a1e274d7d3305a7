// Converts between values per slot, in the order of tokens, and values per row, sorted by expert.
// Slots without a row are ignored or get zeros (ops/permute.h).
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_SLOT_ROWS_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_SLOT_ROWS_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/experts/permute.h"

namespace trainyard::trainer {

// Sorts slots by expert. `experts` is int64 [tokens, topk]. `rows` is the number of slots that have
// a row.
ExpertOrder OrderOfRows(const torch::Tensor& experts, int64_t rows);

// Returns the rows of x, [tokens, width], sorted by expert: [rows, width].
torch::Tensor RowsOfTokens(const torch::Tensor& x, const ExpertOrder& order);
// Returns residual + the sum of each token's rows: [tokens, width]. `residual` may be undefined.
torch::Tensor SumOfRows(const torch::Tensor& rows, const ExpertOrder& order,
                        const torch::Tensor& residual);

// Converts [tokens, topk] to [rows], and back.
torch::Tensor RowsOfSlots(const torch::Tensor& slots, const ExpertOrder& order);
torch::Tensor SlotsOfRows(const torch::Tensor& rows, const ExpertOrder& order);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_SLOT_ROWS_H_
