// Cross-entropy loss with a vocabulary that is split over several devices. Each part computes
// statistics, which the caller exchanges and combines. Each part then computes the loss and its
// part of the gradient.
#ifndef TRAINYARD_TRAINER_OPS_LOSS_VOCABULARY_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_OPS_LOSS_VOCABULARY_CROSS_ENTROPY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/loss/cross_entropy.h"

namespace trainyard::trainer {

// The number of statistics per row.
inline constexpr int64_t kCrossEntropyStatistics = 3;

// Writes statistics [rows, 3], in the compute type: the largest logit of the part, the sum of
// exp(logit - largest), and the target's logit if it is in this part, else 0. If all logits are
// -infinity, the sum is 0. logits: [rows, width], for the tokens first_token to first_token +
// width - 1; width is at least 1. target_tokens: int64 [rows], each within the whole vocabulary.
void CrossEntropyStatistics(const torch::Tensor& logits, const torch::Tensor& target_tokens,
                            int64_t first_token, torch::Tensor& statistics);

// Combines the statistics of all parts, [parts, rows, 3], into a tensor [rows, 2]:
// log(sum(exp(logits))) over the whole vocabulary, and the target's logit.
torch::Tensor CombineStatistics(const torch::Tensor& statistics_of_parts);

// Adds the sum of w * -log softmax(logits)[target] over the rows to `loss`, an fp64 scalar. All
// parts get the same sum, so the caller must count this sum only once. Then replaces each row of
// logits with its part of the gradient w * (softmax - onehot), computed in the compute type and
// rounded once. The gradient is exactly 0 for a row with weight 0. With kLossOnly, the logits do
// not change. combined: from CombineStatistics.
void CrossEntropyOfPart(torch::Tensor& logits, const Targets& targets, int64_t first_token,
                        const torch::Tensor& combined, LossPass pass, torch::Tensor& loss);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_LOSS_VOCABULARY_CROSS_ENTROPY_H_
