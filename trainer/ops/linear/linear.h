// Products with a weight matrix, biases, and the gradients of weights and biases.
#ifndef TRAINYARD_TRAINER_OPS_LINEAR_LINEAR_H_
#define TRAINYARD_TRAINER_OPS_LINEAR_LINEAR_H_

#include <torch/types.h>

#include "trainer/ops/tensors/gradient_target.h"

namespace trainyard::trainer {

// x: [rows, in], weight: [out, in], y: [rows, out]. All three are contiguous and of the same type.
// Products of 16-bit types are added up in fp32.

// y = x weight^T + bias; bias: [out], or undefined. In 16-bit types, the product may be rounded
// before the bias is added.
void LinearForward(const torch::Tensor& x, const torch::Tensor& weight, torch::Tensor& y,
                   const torch::Tensor& bias = {});

// y = residual + x weight^T + bias. residual: [rows, out]; y may share its memory. In 16-bit types,
// the product may be rounded before residual is added, and the sum again before bias is added.
void LinearForwardWithResidual(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& residual, torch::Tensor& y,
                               const torch::Tensor& bias = {});

// dx = dy weight.
void LinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight, torch::Tensor& dx);

// target = dy^T x or, if the target accumulates, target += dy^T x. Computed in the type of the
// target. dy may have the compute type of x; a GPU then uses the first 16 significant bits of each
// dy.
void LinearWeightGradient(const torch::Tensor& dy, const torch::Tensor& x,
                          const GradientTarget& target);

// y += bias in every row. bias: [out]. In 16-bit types, this rounds y once more.
void AddBias(const torch::Tensor& bias, torch::Tensor& y);

// target = the sum of the rows of dy or, if the target accumulates, target += this sum. Computed in
// the type of the target.
void BiasGradient(const torch::Tensor& dy, const GradientTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_LINEAR_LINEAR_H_
