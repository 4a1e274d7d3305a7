// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over a range of parameters, and the gradient
// norm. Numbers that change every step are in device memory.
#ifndef TRAINYARD_TRAINER_OPS_ADAMW_H_
#define TRAINYARD_TRAINER_OPS_ADAMW_H_

#include <torch/types.h>

#include "trainer/ops/adamw_state.h"

namespace trainyard::trainer {

// One update. step_values: fp64 [kStepValues] (kernels/step_values.h). Reads kStep, kLearningRate,
// kStepSize, kRootCorrection and kGradientScale. Changes nothing if kFinite is 0.
void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors,
                 const torch::Tensor& step_values);

// Sets `sum`, an fp64 scalar, to the sum of squares. The order of addition depends only on the
// length.
void SquaredSum(const torch::Tensor& values, torch::Tensor& sum);

// Computes kGradientNorm, kGradientScale and kFinite in step_values from the squared norms of all
// parts, fp64 [parts], and kLoss. kGradientScale scales the norm down to max_norm if it is larger;
// it is 1 if max_norm is 0.
void FinishNorm(const torch::Tensor& squared_norms, double max_norm, torch::Tensor& step_values);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ADAMW_H_
