#include "trainer/step_runner.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/utils.h>

#include <algorithm>

#include "proto/contract/run_rules.h"
#include "trainer/kernels/step_values.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using torch::Tensor;

// A copy in the device's memory that the caller does not wait for. It reads page-locked memory,
// which LibTorch hands out again only when the copy is done.
Tensor Upload(const Tensor& host, torch::Device device) {
  return device.is_cuda() ? host.pin_memory().to(device, /*non_blocking=*/true) : host.clone();
}

double ValueOf(const Tensor& step_values, StepValue which) {
  return step_values.data_ptr<double>()[static_cast<int64_t>(which)];
}

void SetValue(Tensor& step_values, StepValue which, double value) {
  step_values.data_ptr<double>()[static_cast<int64_t>(which)] = value;
}

}  // namespace

StepRunner::StepRunner(const Parts& parts, int64_t rounds)
    : parts_(parts),
      rounds_(rounds),
      shards_state_(ShardsOptimizerState(parts.config.layout)),
      gradients_(parts.model.parameters()) {
  const int64_t rows = parts.config.layout.micro_batch * parts.config.train.seq_length;
  const double share = 1.0 / static_cast<double>(TokensPerStep(parts.config.train));
  loss_weights_ = torch::full({rows}, share, torch::dtype(torch::kFloat32).device(parts.device));
  gradients_.OnGroupFinished([this](int64_t group) { OnGroupFinished(group); });
}

void StepRunner::Launch(const StepRequest& request, const std::function<TokenBatch()>& next,
                        const std::function<void()>& before_update) {
  const torch::NoGradGuard no_grad;
  Pending pending;
  pending.launched = Clock::now();
  pending.result.step = request.step;
  pending.result.learning_rate = request.learning_rate;
  Tensor values = parts_.optimizer.HostStepValues(request.step, request.learning_rate);
  SetValue(values, StepValue::kStopRequested, request.stop ? 1 : 0);
  SetValue(values, StepValue::kSaveRequested, request.save ? 1 : 0);
  step_values_ = Upload(values, parts_.device);
  ForwardBackward(next);
  SumStepValues();
  parts_.optimizer.FinishGradientNorm(step_values_);
  before_update();
  UpdateWeights();
  CopyResult(pending);
  pending_.push_back(std::move(pending));
}

// Fills the gradients of this rank's share of the global batch and its share of the mean loss: the
// sums over all ranks are those of the mean over the global batch.
void StepRunner::ForwardBackward(const std::function<TokenBatch()>& next) {
  gradients_.BeginStep();
  Tensor loss = step_values_[static_cast<int64_t>(StepValue::kLoss)];
  for (round_ = 0; round_ < rounds_; ++round_) {
    parts_.model.ForwardBackward(ToDevice(next()), loss, gradients_);
  }
}

TrainingTokens StepRunner::ToDevice(const TokenBatch& batch) {
  const auto rows = static_cast<int64_t>(batch.samples.size());
  const Tensor tokens = torch::from_blob(const_cast<int64_t*>(batch.tokens.data()),
                                         {rows, batch.row_tokens}, torch::kInt64);
  return {Upload(tokens, parts_.device), loss_weights_};
}

// The sum over the ranks and its norm run under the rest of the backward pass.
void StepRunner::OnGroupFinished(int64_t group) {
  if (round_ + 1 < rounds_) return;
  const ParameterStore& store = parts_.model.parameters();
  const ElementRange &all = store.groups()[group].all, owned = store.OwnedOf(group);
  const auto part = [&](const ElementRange& range) {
    return store.gradients().narrow(0, range.first, range.length);
  };
  Communicator& ranks = parts_.communicator;
  works_.push_back(shards_state_ ? ranks.ReduceScatter(part(owned), part(all))
                                 : ranks.AllReduce(part(all)));
  works_.push_back(ranks.Then([this, group] { parts_.optimizer.MeasureGroup(group); }));
}

void StepRunner::SumStepValues() {
  const auto first = static_cast<int64_t>(StepValue::kLoss);
  Communicator& ranks = parts_.communicator;
  works_.push_back(ranks.AllReduce(step_values_.narrow(0, first, kSummedStepValues)));
  if (shards_state_) works_.push_back(ranks.AllReduce(parts_.optimizer.squared_norms()));
  Join();
}

void StepRunner::Join() {
  for (Work& work : works_) work.Wait();
  works_.clear();
}

// Ranks that share the state of the optimizer give each other the weights that they have updated,
// of one group while they update the next. The order is that of the next forward pass.
void StepRunner::UpdateWeights() {
  const ParameterStore& store = parts_.model.parameters();
  const auto part = [&](const ElementRange& range) {
    return store.values().narrow(0, range.first, range.length);
  };
  for (auto group = static_cast<int64_t>(store.groups().size()) - 1; group >= 0; --group) {
    parts_.optimizer.UpdateGroup(group, step_values_);
    if (!shards_state_) continue;
    works_.push_back(
        parts_.communicator.AllGather(part(store.groups()[group].all), part(store.OwnedOf(group))));
  }
  Join();
}

void StepRunner::CopyResult(Pending& pending) {
  if (!parts_.device.is_cuda()) {
    pending.values = step_values_;
    return;
  }
  pending.values = torch::empty({kStepValues}, torch::dtype(torch::kFloat64).pinned_memory(true));
  pending.values.copy_(step_values_, /*non_blocking=*/true);
  const c10::impl::VirtualGuardImpl streams(parts_.device.type());
  pending.done.emplace(parts_.device.type());
  pending.done->record(streams.getStream(parts_.device));
}

StepResult StepRunner::Finish() {
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  if (pending.done.has_value()) {
    parts_.communicator.WaitUntil([&] { return pending.done->query(); });
  }
  StepResult result = pending.result;
  result.loss = ValueOf(pending.values, StepValue::kLoss);
  result.grad_norm = ValueOf(pending.values, StepValue::kGradientNorm);
  result.is_finite = ValueOf(pending.values, StepValue::kFinite) != 0;
  result.stop = ValueOf(pending.values, StepValue::kStopRequested) > 0;
  result.save = ValueOf(pending.values, StepValue::kSaveRequested) > 0;
  const auto now = Clock::now();
  result.seconds =
      std::chrono::duration<double>(now - std::max(pending.launched, finished_)).count();
  finished_ = now;
  return result;
}

}  // namespace trainyard::trainer
