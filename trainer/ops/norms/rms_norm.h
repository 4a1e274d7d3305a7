// Root-mean-square normalization (Zhang and Sennrich 2019, arXiv 1910.07467).
#ifndef TRAINYARD_TRAINER_OPS_NORMS_RMS_NORM_H_
#define TRAINYARD_TRAINER_OPS_NORMS_RMS_NORM_H_

#include <torch/types.h>

#include "trainer/ops/tensors/gradient_target.h"
#include "trainer/ops/tensors/norm_tensors.h"

namespace trainyard::trainer {

// y = x * inverse_rms * weight for each row, with inverse_rms = 1 / sqrt(mean(x^2) + epsilon). x
// and y: [rows, width]. weight: [width]. All three have the same type. inverse_rms: [rows] in the
// compute type.
void RmsNormForward(const torch::Tensor& x, const torch::Tensor& weight, double epsilon,
                    torch::Tensor& y, torch::Tensor& inverse_rms);

// dx = the gradient of x, plus residual_gradient [rows, width] if it is defined: the gradient of x
// as the residual stream. dx may share memory with dy or residual_gradient.
void RmsNormBackward(const torch::Tensor& dy, const RmsNormInput& input,
                     const torch::Tensor& residual_gradient, torch::Tensor& dx,
                     const GradientTarget& weight_gradient);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_NORMS_RMS_NORM_H_
