// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over a range of parameters, and the gradient
// norm. Numbers that change every step are in device memory.
#ifndef TRAINYARD_TRAINER_OPS_ADAMW_H_
#define TRAINYARD_TRAINER_OPS_ADAMW_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Flat tensors of equal length.
struct AdamWState {
  torch::Tensor values;         // fp32 or fp64 master weights; or bf16, with low_bits.
  torch::Tensor low_bits;       // Remaining bits of bf16 values (master_weights.h).
  torch::Tensor gradients;      // In the compute type of `values`.
  torch::Tensor first_moment;   // fp32, fp64 or bf16 (rounded stochastically).
  torch::Tensor second_moment;  // Same types as first_moment.
  // Rounding seed of element 0; element i uses first_element + i. Equal seeds in every layout give
  // equal rounding.
  int64_t first_element = 0;
};

struct AdamWFactors {
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;  // 0 for parameters without weight decay.
};

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
