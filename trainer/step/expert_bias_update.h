// Balances the load of experts by their bias, without a loss (arXiv 2408.15664).
#ifndef TRAINYARD_TRAINER_STEP_EXPERT_BIAS_UPDATE_H_
#define TRAINYARD_TRAINER_STEP_EXPERT_BIAS_UPDATE_H_

#include <torch/types.h>

namespace trainyard::trainer {

// Returns the change of the biases, fp32 [layers, experts]: `rate` for an expert with fewer rows
// than the mean of its layer, -rate for more, and 0 for the mean. `load` is int64 [layers,
// experts]; the comparison with the mean is exact.
torch::Tensor ExpertBiasChange(const torch::Tensor& load, double rate);

// Moves the biases, which are changed in place. `load` counts the rows of the step over all ranks.
// A step that is not finite (StepValue::kFinite) changes no bias.
void UpdateExpertBias(const torch::Tensor& load, double rate, const torch::Tensor& step_values,
                      torch::Tensor& bias);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_EXPERT_BIAS_UPDATE_H_
