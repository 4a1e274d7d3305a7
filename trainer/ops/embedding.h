// Rows of a table by token.
#ifndef TRAINYARD_TRAINER_OPS_EMBEDDING_H_
#define TRAINYARD_TRAINER_OPS_EMBEDDING_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/gradient_target.h"

namespace trainyard::trainer {

// The table may hold a part of the vocabulary: row i is of the token first_token + i.

// out[r] = table[tokens[r] - first_token], or zeros where the table has no such row. table: [table
// rows, width]; tokens: int64 [rows]; out: [rows, width].
void EmbeddingForward(const torch::Tensor& table, const torch::Tensor& tokens, torch::Tensor& out,
                      int64_t first_token = 0);

// x[r] += table[tokens[r]], of a whole table.
void AddEmbedding(const torch::Tensor& table, const torch::Tensor& tokens, torch::Tensor& x);

// target[tokens[r] - first_token] += dy[r], over a target of zeros unless it accumulates; leaves
// out the tokens that the target has no row for. The order of the sums depends on the tokens only.
void EmbeddingBackward(const torch::Tensor& dy, const torch::Tensor& tokens,
                       const GradientTarget& target, int64_t first_token = 0);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EMBEDDING_H_
