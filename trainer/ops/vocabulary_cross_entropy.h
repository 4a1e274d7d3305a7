// The cross-entropy loss where each of several devices has the logits of a part of the vocabulary:
// statistics of each part, exchanged and combined by the caller, then the loss and the gradient of
// each part.
#ifndef TRAINYARD_TRAINER_OPS_VOCABULARY_CROSS_ENTROPY_H_
#define TRAINYARD_TRAINER_OPS_VOCABULARY_CROSS_ENTROPY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/cross_entropy.h"

namespace trainyard::trainer {

// Elements of a row of statistics.
inline constexpr int64_t kCrossEntropyStatistics = 3;

// logits: [rows, width] of the tokens [first_token, first_token + width), width at least 1.
// target_tokens: int64 [rows], each inside the whole vocabulary. Writes statistics [rows, 3], in
// the compute type: the largest logit of the part, the sum of exp(logit - largest), and the logit
// of the target where this part has it, else 0. A part of logits of -infinity has a sum of 0.
void CrossEntropyStatistics(const torch::Tensor& logits, const torch::Tensor& target_tokens,
                            int64_t first_token, torch::Tensor& statistics);

// From the statistics of all parts, [parts, rows, 3]: log(sum(exp(logits))) over the vocabulary and
// the logit of the target, [rows, 2].
torch::Tensor CombineStatistics(const torch::Tensor& statistics_of_parts);

// Adds to `loss`, an fp64 scalar, the sum of w * -log softmax(logits)[target] over the rows, which
// is the same for every part: the caller counts one. Then turns each row of logits into its part of
// the gradient w * (softmax - onehot), computed in the compute type and rounded once; exactly 0 for
// a row of weight 0. Without a gradient the logits stay as they are. combined: of
// CombineStatistics.
void CrossEntropyOfPart(torch::Tensor& logits, const Targets& targets, int64_t first_token,
                        const torch::Tensor& combined, LossPass pass, torch::Tensor& loss);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_VOCABULARY_CROSS_ENTROPY_H_
