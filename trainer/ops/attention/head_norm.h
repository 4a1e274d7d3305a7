// RMSNorm of attention heads within packed rows. The normalization of queries and keys is from
// Dehghani et al. 2023 (arXiv 2302.05442); using RMSNorm for this is from Qwen3 (arXiv 2505.09388).
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_HEAD_NORM_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_HEAD_NORM_H_

#include <torch/types.h>

#include "trainer/ops/tensors/gradient_target.h"
#include "trainer/ops/tensors/norm_tensors.h"

namespace trainyard::trainer {

// Replaces each head with head * inverse_rms * weight, with inverse_rms as in RmsNormForward.
// heads: [batch, length, heads, head_size], a view of packed rows (attention_heads.h). weight:
// [head_size]. The caller allocates the tensors of `kept`.
void HeadNormForward(torch::Tensor& heads, const torch::Tensor& weight, double epsilon,
                     HeadNormKept& kept);

// On entry, d_heads is the gradient of the normalized heads. Replaces d_heads with the gradient of
// the heads before HeadNormForward.
void HeadNormBackward(torch::Tensor& d_heads, const torch::Tensor& weight, const HeadNormKept& kept,
                      const GradientTarget& weight_gradient);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_HEAD_NORM_H_
