#include "trainer/optimizer/adamw.h"

#include <cmath>

#include "trainer/kernels/step_values.h"
#include "trainer/ops/adamw.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor Moments(const ParameterStore& store, Precision precision) {
  const auto wide = store.gradients().options();
  return torch::zeros({store.state_elements()},
                      precision == Precision::kBf16 ? wide.dtype(torch::kBFloat16) : wide);
}

}  // namespace

AdamW::AdamW(const OptimizerConfig& config, ParameterStore& store)
    : config_(config),
      store_(store),
      first_moment_(Moments(store, config.exp_avg_dtype)),
      second_moment_(Moments(store, config.exp_avg_sq_dtype)),
      squared_norms_(torch::zeros({static_cast<int64_t>(store.groups().size())},
                                  store.gradients().options().dtype(torch::kFloat64))) {}

Tensor AdamW::HostStepValues(int64_t step, double learning_rate) const {
  Tensor values = torch::zeros({kStepValues}, torch::kFloat64);
  auto* data = values.data_ptr<double>();
  const auto set = [&](StepValue which, double value) {
    data[static_cast<int64_t>(which)] = value;
  };
  const auto count = static_cast<double>(step);
  set(StepValue::kStep, count);
  set(StepValue::kLearningRate, learning_rate);
  set(StepValue::kStepSize, learning_rate / (1 - std::pow(config_.adam_beta1, count)));
  set(StepValue::kRootCorrection, std::sqrt(1 - std::pow(config_.adam_beta2, count)));
  return values;
}

void AdamW::MeasureGroup(int64_t group) {
  const ElementRange range = store_.OwnedOf(group);
  Tensor sum = squared_norms_[group];
  SquaredSum(store_.gradients().narrow(0, range.first, range.length), sum);
}

void AdamW::FinishGradientNorm(Tensor& step_values) {
  FinishNorm(squared_norms_, config_.clip_grad, step_values);
}

void AdamW::UpdateGroup(int64_t group, const Tensor& step_values) {
  const ParameterGroup& whole = store_.groups()[group];
  const ElementRange owned = store_.OwnedOf(group);
  Update(group, Intersect(whole.decaying, owned), config_.weight_decay, step_values);
  Update(group, Intersect(whole.constant, owned), 0, step_values);
}

void AdamW::Update(int64_t group, const ElementRange& range, double weight_decay,
                   const Tensor& step_values) {
  if (range.length == 0) return;
  const auto part = [&](const Tensor& flat) { return flat.narrow(0, range.first, range.length); };
  const auto state = [&](const Tensor& flat) { return store_.StatePart(flat, group, range); };
  AdamWUpdate({.values = part(store_.values()),
               .low_bits = store_.low_bits().defined() ? state(store_.low_bits()) : Tensor(),
               .gradients = part(store_.gradients()),
               .first_moment = state(first_moment_),
               .second_moment = state(second_moment_),
               .first_element = range.first},
              {.beta1 = config_.adam_beta1,
               .beta2 = config_.adam_beta2,
               .epsilon = config_.adam_eps,
               .weight_decay = weight_decay},
              step_values);
}

}  // namespace trainyard::trainer
