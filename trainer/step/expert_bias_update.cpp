#include "trainer/step/expert_bias_update.h"

#include "trainer/kernels/step_values.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor ExpertBiasChange(const Tensor& load, double rate) {
  const Tensor below_mean = load.sum(1, /*keepdim=*/true) - load * load.size(1);
  return below_mean.sign().to(torch::kFloat32) * rate;
}

void ExpertBiasUpdate::BeginStep() {
  if (balance_.load.defined()) balance_.load.zero_();
  if (balance_.dropped.defined()) balance_.dropped.zero_();
}

void ExpertBiasUpdate::Update(const Tensor& step_values) {
  if (!balance_.bias.defined()) return;
  world_.AllReduce(balance_.load).Wait();
  const Tensor is_finite = step_values[static_cast<int64_t>(StepValue::kFinite)];
  balance_.bias.add_(ExpertBiasChange(balance_.load, rate_) * is_finite.to(torch::kFloat32));
}

}  // namespace trainyard::trainer
