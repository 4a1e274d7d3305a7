#include "controller/core/ledger/token_progress.h"

#include <cstdint>
#include <limits>

#include "proto/rules/batch_plan.h"

namespace trainyard::controller {
namespace {

BatchPlan PlanOf(const v1::TrainSpec& spec) {
  TrainConfig train;
  train.global_batch = spec.global_batch();
  train.rampup_batch_start = spec.rampup_batch_start();
  train.rampup_batch_increment = spec.rampup_batch_increment();
  train.rampup_batch_samples = spec.rampup_batch_samples();
  return BatchPlan(train);
}

int64_t TokensOf(int64_t samples, int64_t length) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return samples > kMost / length ? kMost : samples * length;
}

// Estimates the remaining seconds from the samples per second of the newest step.
double SecondsLeft(const BatchPlan& plan, const v1::Progress& progress) {
  const int64_t step = progress.step(), total = progress.total_steps();
  if (step <= 0 || total <= step) return progress.eta_seconds();
  const double step_seconds = progress.eta_seconds() / static_cast<double>(total - step);
  const auto samples_left =
      static_cast<double>(plan.SamplesThrough(total) - plan.SamplesThrough(step));
  return step_seconds * samples_left / static_cast<double>(plan.OfStep(step).count);
}

}  // namespace

void AddTokens(const v1::JobSpec& spec, v1::Progress& progress) {
  const v1::TrainSpec& train = spec.train();
  const int64_t length = train.seq_length();
  if (length <= 0 || train.global_batch() <= 0) return;
  const BatchPlan plan = PlanOf(train);
  const int64_t total = progress.total_steps() > 0 ? progress.total_steps() : train.steps();
  progress.set_tokens(TokensOf(plan.SamplesThrough(progress.step()), length));
  progress.set_total_tokens(TokensOf(plan.SamplesThrough(total), length));
  progress.set_eta_seconds(SecondsLeft(plan, progress));
}

}  // namespace trainyard::controller
