// Tensors of the normalizations and of their gradients.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_NORM_TENSORS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_NORM_TENSORS_H_

#include <torch/types.h>

#include <optional>

#include "trainer/ops/tensors/gradient_target.h"

namespace trainyard::trainer {

// Values that HeadNormForward keeps for the backward pass. Each row is one head of one token, in
// order.
struct HeadNormKept {
  torch::Tensor x;            // [rows, head_size]: input of the norm; undefined if not kept.
  torch::Tensor inverse_rms;  // [rows] in the compute type.
};

// Each tensor is [width], of the type of x. If a norm has no weight or no bias, the corresponding
// tensor is undefined. The norms of OLMo (arXiv 2402.00838) have neither a weight nor a bias.
struct LayerNormWeights {
  torch::Tensor weight;
  torch::Tensor bias;
};

// Tensors of LayerNormForward.
struct LayerNormInput {
  const torch::Tensor& x;
  const torch::Tensor& weight;  // May be undefined.
  const torch::Tensor& statistics;
};

// Destinations of the gradients of the weight and the bias, if the norm has them.
struct LayerNormTargets {
  std::optional<GradientTarget> weight;
  std::optional<GradientTarget> bias;
};

// Tensors of RmsNormForward.
struct RmsNormInput {
  const torch::Tensor& x;
  const torch::Tensor& weight;
  const torch::Tensor& inverse_rms;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_NORM_TENSORS_H_
