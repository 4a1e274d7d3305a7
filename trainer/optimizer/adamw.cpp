#include "trainer/optimizer/adamw.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <string>

#include "trainer/ops/optimizer/adamw.h"

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
      second_moment_(Moments(store, config.exp_avg_sq_dtype)) {
  for (int64_t group = 0; group < static_cast<int64_t>(store.groups().size()); ++group) {
    const ParameterGroup& whole = store.groups()[group];
    std::vector<ElementRange>& measured = measured_.emplace_back();
    if (!store.PartsOf(group).counts) continue;
    for (const ElementRange& counted : whole.counted) {
      const ElementRange owned = Intersect(counted, store.OwnedOf(group));
      for (const bool decays : {true, false}) {
        const ElementRange range = Intersect(owned, decays ? whole.decaying : whole.constant);
        if (range.length == 0) continue;
        measured.push_back(range);
        measured_parts_.push_back({group, decays});
      }
    }
  }
  all_squared_norms_ = torch::zeros({static_cast<int64_t>(measured_parts_.size())},
                                    store.gradients().options().dtype(torch::kFloat64));
  int64_t next = 0;
  for (const std::vector<ElementRange>& measured : measured_) {
    const auto count = static_cast<int64_t>(measured.size());
    squared_norms_.push_back(all_squared_norms_.narrow(0, next, count));
    next += count;
  }
}

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
  for (size_t i = 0; i < measured_[group].size(); ++i) {
    Tensor sum = squared_norms_[group][static_cast<int64_t>(i)];
    SquaredSum(store_.Gradients(group, measured_[group][i]), sum);
  }
}

void AdamW::SumSquares(StepValue which, Tensor& step_values) const {
  step_values[static_cast<int64_t>(which)].copy_(all_squared_norms_.sum());
}

void AdamW::FinishGradientNorm(Tensor& step_values) const {
  const Tensor sum = step_values.narrow(0, static_cast<int64_t>(StepValue::kSquaredNorm), 1);
  FinishNorm(sum, config_.clip_grad, step_values);
}

// Returns the rounding seed of the group's first element. The seed is a hash of the group's name,
// so that it is the same on every rank and in every layout.
int64_t AdamW::PlaceOf(int64_t group) const {
  const std::string& name = store_.groups()[group].name;
  return static_cast<int64_t>(XXH64(name.data(), name.size(), 0) >> 2);
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
  const auto state = [&](const Tensor& buffer) {
    return buffer.defined() ? store_.State(buffer, group, range) : Tensor();
  };
  AdamWUpdate({.values = store_.Values(group, range),
               .low_bits = state(store_.low_bits()),
               .masters = state(store_.masters()),
               .gradients = store_.Gradients(group, range),
               .first_moment = state(first_moment_),
               .second_moment = state(second_moment_),
               .first_element = PlaceOf(group) + range.first - store_.groups()[group].all.first},
              {.beta1 = config_.adam_beta1,
               .beta2 = config_.adam_beta2,
               .epsilon = config_.adam_eps,
               .weight_decay = weight_decay},
              step_values);
}

}  // namespace trainyard::trainer
