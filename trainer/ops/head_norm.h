// RMSNorm of attention heads within packed rows (Dehghani et al. 2023, arXiv 2302.05442, with the
// RMSNorm of Qwen3, arXiv 2505.09388).
#ifndef TRAINYARD_TRAINER_OPS_HEAD_NORM_H_
#define TRAINYARD_TRAINER_OPS_HEAD_NORM_H_

#include <torch/types.h>

#include "trainer/ops/gradient_target.h"

namespace trainyard::trainer {

// Of the forward pass, for the gradient; rows are the heads of all tokens in their order.
struct HeadNormKept {
  torch::Tensor x;            // [rows, head_size]: the heads as they were; undefined: not kept.
  torch::Tensor inverse_rms;  // [rows] in the compute type.
};

// Each head becomes head * inverse_rms * weight, as RmsNormForward says. heads: [batch, length,
// heads, head_size], a view of packed rows (attention_heads.h); weight: [head_size]. The caller
// allocates what is kept.
void HeadNormForward(torch::Tensor& heads, const torch::Tensor& weight, double epsilon,
                     HeadNormKept& kept);

// The gradient of the heads becomes that before HeadNormForward, in place.
void HeadNormBackward(torch::Tensor& d_heads, const torch::Tensor& weight, const HeadNormKept& kept,
                      const GradientTarget& weight_gradient);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_HEAD_NORM_H_
