// Layer normalization (Ba, Kiros and Hinton 2016, arXiv 1607.06450).
#ifndef TRAINYARD_TRAINER_OPS_NORMS_LAYER_NORM_H_
#define TRAINYARD_TRAINER_OPS_NORMS_LAYER_NORM_H_

#include <torch/types.h>

#include "trainer/ops/tensors/norm_tensors.h"

namespace trainyard::trainer {

// y = (x - mean) * inverse_std * weight + bias for each row, with inverse_std = 1 / sqrt(variance +
// epsilon). x and y: [rows, width], of the same type. statistics: mean and inverse_std, [2, rows]
// in the compute type.
void LayerNormForward(const torch::Tensor& x, const LayerNormWeights& weights, double epsilon,
                      torch::Tensor& y, torch::Tensor& statistics);

// dx = the gradient of x, plus residual_gradient [rows, width] if it is defined. dx may share
// memory with dy or residual_gradient.
void LayerNormBackward(const torch::Tensor& dy, const LayerNormInput& input,
                       const torch::Tensor& residual_gradient, torch::Tensor& dx,
                       const LayerNormTargets& targets);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_NORMS_LAYER_NORM_H_
