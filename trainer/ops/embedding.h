// Rows of a table by token.
#ifndef TRAINYARD_TRAINER_OPS_EMBEDDING_H_
#define TRAINYARD_TRAINER_OPS_EMBEDDING_H_

#include <torch/types.h>

#include "trainer/ops/gradient_target.h"

namespace trainyard::trainer {

// out[r] = table[tokens[r]]. table: [vocabulary, width]; tokens: int64 [rows]; out: [rows, width].
void EmbeddingForward(const torch::Tensor& table, const torch::Tensor& tokens, torch::Tensor& out);

// target[tokens[r]] += dy[r], over a target of zeros unless it accumulates. The order of the sums
// depends on the tokens only.
void EmbeddingBackward(const torch::Tensor& dy, const torch::Tensor& tokens,
                       const GradientTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EMBEDDING_H_
