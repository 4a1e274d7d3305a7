// Choice of the experts that process each token, and its gradient: softmax scores (Mixtral, arXiv
// 2401.04088; Qwen3) and sigmoid scores with groups and a bias (DeepSeek-V3, arXiv 2412.19437,
// section 2.1.2).
#ifndef TRAINYARD_TRAINER_OPS_EXPERTS_ROUTING_H_
#define TRAINYARD_TRAINER_OPS_EXPERTS_ROUTING_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/tensors/router_form.h"

namespace trainyard::trainer {

// Returns the scores [rows, experts] of logits [rows, experts] in the compute type of the logits.
torch::Tensor RouterScores(const torch::Tensor& logits, const RouterForm& form);

// Returns the numbers of the chosen experts, int64 [rows, topk], highest score first. `bias`,
// [experts], is added to the scores for the choice only; it may be undefined. If scores are equal,
// the expert with the lower number is chosen, so that every device and every repetition makes the
// same choice. With groups, the choice is limited to the groups with the highest sums of their two
// best scores.
torch::Tensor ChooseExperts(const torch::Tensor& scores, const torch::Tensor& bias,
                            const RouterForm& form);

// Returns a balanced choice for benchmarks, int64 [rows, topk]: the experts (row + j) mod experts
// for j < topk. If `experts` divides `rows`, every expert receives equally many rows.
torch::Tensor BalancedExperts(int64_t rows, int64_t experts, int64_t topk, torch::Device device);

// Returns the weights of the chosen experts, [rows, topk].
torch::Tensor ExpertWeights(const torch::Tensor& scores, const torch::Tensor& experts,
                            const RouterForm& form);

// Returns the gradient of the logits, [rows, experts], given the gradient of the weights. The
// choice itself has no gradient.
torch::Tensor RouterLogitGradient(const torch::Tensor& d_weights, const torch::Tensor& scores,
                                  const torch::Tensor& experts, const RouterForm& form);

// Returns the number of rows of each expert, int64 [count]. `experts` is [rows, topk].
torch::Tensor CountRows(const torch::Tensor& experts, int64_t count);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERTS_ROUTING_H_
