// Table lookup by token.
#ifndef TRAINYARD_TRAINER_OPS_EMBEDDING_H_
#define TRAINYARD_TRAINER_OPS_EMBEDDING_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/tensors/gradient_target.h"

namespace trainyard::trainer {

// The table may cover only a part of the vocabulary. Row i belongs to token first_token + i.

// out[r] = table[tokens[r] - first_token], or zeros if the table has no such row. table: [table
// rows, width]. tokens: int64 [rows]. out: [rows, width].
void EmbeddingForward(const torch::Tensor& table, const torch::Tensor& tokens, torch::Tensor& out,
                      int64_t first_token = 0);

// x[r] += table[tokens[r]]. The table must cover the whole vocabulary.
void AddEmbedding(const torch::Tensor& table, const torch::Tensor& tokens, torch::Tensor& x);

// target[tokens[r] - first_token] += dy[r]. Unless the target accumulates, it is first set to zero.
// Tokens without a row in the target are skipped. The order of the additions depends only on the
// tokens.
void EmbeddingBackward(const torch::Tensor& dy, const torch::Tensor& tokens,
                       const GradientTarget& target, int64_t first_token = 0);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EMBEDDING_H_
