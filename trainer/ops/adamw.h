// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over a range of parameters, and the norm of
// the gradients. Numbers that change from step to step are in the device's memory.
#ifndef TRAINYARD_TRAINER_OPS_ADAMW_H_
#define TRAINYARD_TRAINER_OPS_ADAMW_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Flat tensors of one length.
struct AdamWState {
  torch::Tensor values;         // fp32 or fp64 master weights; or bf16,
  torch::Tensor low_bits;       // then with the rest of the master weights (split_master.h).
  torch::Tensor gradients;      // In the compute type of the values.
  torch::Tensor first_moment;   // fp32, fp64 or bf16; bf16 is rounded stochastically.
  torch::Tensor second_moment;  // Likewise.
  // Place from which the rounding is seeded, of element 0; element i has the place after i others.
  // Equal places in every layout give equal rounding.
  int64_t first_element = 0;
};

struct AdamWFactors {
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;  // 0 for parameters that do not decay.
};

// One update. step_values: fp64 [kStepValues] (kernels/step_values.h), of which kStep,
// kLearningRate, kStepSize, kRootCorrection and kGradientScale are read; changes nothing when
// kFinite is 0.
void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors,
                 const torch::Tensor& step_values);

// sum = the sum of squares, as an fp64 scalar, in an order that depends on the length only.
void SquaredSum(const torch::Tensor& values, torch::Tensor& sum);

// From the squared norms of all parts, fp64 [parts], and the loss in step_values: sets
// kGradientNorm, kGradientScale (what reduces the norm to max_norm; 1 when max_norm is 0) and
// kFinite.
void FinishNorm(const torch::Tensor& squared_norms, double max_norm, torch::Tensor& step_values);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ADAMW_H_
