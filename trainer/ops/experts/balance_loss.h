// Losses that balance the load of experts, with their gradients, and the entropy of a router. The
// losses are not part of the reported loss.
#ifndef TRAINYARD_TRAINER_OPS_EXPERTS_BALANCE_LOSS_H_
#define TRAINYARD_TRAINER_OPS_EXPERTS_BALANCE_LOSS_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/experts/routing.h"
#include "trainer/ops/tensors/balance_sequences.h"

namespace trainyard::trainer {

// Returns how many rows of each sequence choose each expert by score alone, without bias and
// groups, as in Megatron-LM: int64 [count, experts]. The caller must sum the result over the ranks
// that share the sequences.
torch::Tensor BalanceCounts(const torch::Tensor& scores, int64_t topk,
                            const BalanceSequences& sequences);

// Adds to d_logits the gradient of coefficient * the mean over the sequences of
//   sum_i f_i P_i, with f_i = experts / (topk * tokens) * counts_i and P_i = the mean over the
//   tokens of score_i / (the sum of the token's scores),
// where the sum is 1 if all experts have the same load (Switch Transformer, arXiv 2101.03961,
// section 2.2; per sequence: DeepSeek-V3, arXiv 2412.19437, equations 17 to 20). f has no gradient.
// P is a sum over rows, so ranks add their gradients.
void AddBalanceGradient(const torch::Tensor& scores, const RouterForm& form,
                        const torch::Tensor& counts, const BalanceSequences& sequences,
                        double coefficient, torch::Tensor& d_logits);

// Returns this rank's part of the mean of AddBalanceGradient, without the coefficient: an fp64
// scalar. The mean is the sum of the parts of the ranks that share the sequences.
torch::Tensor BalanceLoss(const torch::Tensor& scores, const RouterForm& form,
                          const torch::Tensor& counts, const BalanceSequences& sequences);

// Returns for each row the entropy of its normalized scores, divided by the logarithm of the number
// of experts: 1 if all scores are equal, 0 if one expert has all of the score, [rows] in the type
// of the scores. The entropy is 1 for a single expert.
torch::Tensor ScoreEntropies(const torch::Tensor& scores);

// Adds to d_logits the gradient of coefficient * the mean over `tokens` tokens of the squared
// log-sum-exp of the logits (ST-MoE, arXiv 2202.08906, equation 5).
void AddZLossGradient(const torch::Tensor& logits, int64_t tokens, double coefficient,
                      torch::Tensor& d_logits);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERTS_BALANCE_LOSS_H_
