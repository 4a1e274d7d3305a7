// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over a range of parameters, and the gradient
// norm. Numbers that change in every step are kept in device memory.
#ifndef TRAINYARD_TRAINER_OPS_OPTIMIZER_ADAMW_H_
#define TRAINYARD_TRAINER_OPS_OPTIMIZER_ADAMW_H_

#include <torch/types.h>

#include "trainer/ops/tensors/adamw_state.h"

namespace trainyard::trainer {

// Makes one AdamW update. step_values is fp64 [kStepValues] (kernels/step_values.h). The update
// reads kStep, kLearningRate, kStepSize, kRootCorrection and kGradientScale. If kFinite is 0,
// nothing changes.
void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors,
                 const torch::Tensor& step_values);

// Sets `sum`, an fp64 scalar, to the sum of the squares of `values`. The order of the additions
// depends only on the number of values, so the result is reproducible.
void SquaredSum(const torch::Tensor& values, torch::Tensor& sum);

// Sets kGradientNorm, kGradientScale and kFinite in step_values, from kLoss and squared_norms, fp64
// [parts], the squared norms of all parts. If the norm exceeds max_norm, kGradientScale reduces the
// norm to max_norm. If max_norm is 0, kGradientScale is 1.
void FinishNorm(const torch::Tensor& squared_norms, double max_norm, torch::Tensor& step_values);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_OPTIMIZER_ADAMW_H_
