// Gradients of the losses that balance the load of experts. The losses themselves are not computed,
// because they are not part of the reported loss.
#ifndef TRAINYARD_TRAINER_OPS_BALANCE_LOSS_H_
#define TRAINYARD_TRAINER_OPS_BALANCE_LOSS_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/balance_sequences.h"
#include "trainer/ops/routing.h"

namespace trainyard::trainer {

// Returns how many rows of each sequence choose each expert by score alone, without bias and
// groups, as in Megatron-LM: int64 [count, experts]. Sum it over the ranks that share the
// sequences.
torch::Tensor BalanceCounts(const torch::Tensor& scores, int64_t topk,
                            const BalanceSequences& sequences);

// Adds to d_logits the gradient of coefficient * the mean over the sequences of
//   sum_i f_i P_i, with f_i = experts / (topk * tokens) * counts_i and P_i = the mean over the
//   tokens of score_i / (the sum of the token's scores),
// which is 1 if all experts have the same load (Switch Transformer, arXiv 2101.03961, section 2.2;
// per sequence: DeepSeek-V3, arXiv 2412.19437, equations 17 to 20). f has no gradient. P is a sum
// over rows, so ranks add their gradients.
void AddBalanceGradient(const torch::Tensor& scores, const RouterForm& form,
                        const torch::Tensor& counts, const BalanceSequences& sequences,
                        double coefficient, torch::Tensor& d_logits);

// Adds to d_logits the gradient of coefficient * the mean over `tokens` tokens of the squared
// log-sum-exp of the logits (ST-MoE, arXiv 2202.08906, equation 5).
void AddZLossGradient(const torch::Tensor& logits, int64_t tokens, double coefficient,
                      torch::Tensor& d_logits);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_BALANCE_LOSS_H_
