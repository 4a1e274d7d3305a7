#include "trainer/step/expert_bias_update.h"

#include "trainer/kernels/optimizer/step_values.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor ExpertBiasChange(const Tensor& load, double rate) {
  const Tensor below_mean = load.sum(1, /*keepdim=*/true) - load * load.size(1);
  return below_mean.sign().to(torch::kFloat32) * rate;
}

void UpdateExpertBias(const Tensor& load, double rate, const Tensor& step_values, Tensor& bias) {
  const Tensor is_finite = step_values[static_cast<int64_t>(StepValue::kFinite)];
  bias.add_(ExpertBiasChange(load, rate) * is_finite.to(torch::kFloat32));
}

}  // namespace trainyard::trainer
