// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over a range of parameters, and the gradient
// norm. Numbers that change every step are kept in device memory.
#ifndef TRAINYARD_TRAINER_OPS_ADAMW_H_
#define TRAINYARD_TRAINER_OPS_ADAMW_H_

#include <torch/types.h>

#include "trainer/ops/adamw_state.h"

namespace trainyard::trainer {

// Makes one AdamW update. step_values: fp64 [kStepValues] (kernels/step_values.h), of which this
// reads kStep, kLearningRate, kStepSize, kRootCorrection and kGradientScale. Changes nothing if
// kFinite is 0.
void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors,
                 const torch::Tensor& step_values);

// Sets `sum`, an fp64 scalar, to the sum of the squares of `values`. The order of addition depends
// only on the number of values.
void SquaredSum(const torch::Tensor& values, torch::Tensor& sum);

// Computes kGradientNorm, kGradientScale and kFinite in step_values. The inputs are kLoss and the
// squared norms of all parts, fp64 [parts]. If the norm is larger than max_norm, kGradientScale
// reduces it to max_norm. If max_norm is 0, kGradientScale is 1.
void FinishNorm(const torch::Tensor& squared_norms, double max_norm, torch::Tensor& step_values);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ADAMW_H_
