#include "proto/rules/batch_plan.h"

#include <algorithm>
#include <limits>

namespace trainyard {
namespace {

// Products may exceed 64 bits, because this code may run on unchecked settings.
using Wide = __int128;

int64_t Saturated(Wide value) {
  return static_cast<int64_t>(std::min<Wide>(value, std::numeric_limits<int64_t>::max()));
}

// Returns the number of increments of a ramp-up; 0 if the settings are invalid.
int64_t Increments(const TrainConfig& train) {
  const int64_t start = train.rampup_batch_start, increment = train.rampup_batch_increment;
  if (start < 1 || increment < 1 || train.rampup_batch_samples < 1) return 0;
  if (train.global_batch <= start || (train.global_batch - start) % increment != 0) return 0;
  const int64_t increments = (train.global_batch - start) / increment;
  return increments <= kMaxRampupIncrements ? increments : 0;
}

}  // namespace

BatchPlan::BatchPlan(const TrainConfig& train) {
  const int64_t increments = Increments(train);
  int64_t step = 1, sample = 0;
  for (int64_t i = 0; i < increments; ++i) {
    // The number of samples at which stage i ends and the batch grows by one increment.
    const int64_t end =
        Saturated((Wide{train.rampup_batch_samples} * (i + 1) + increments - 1) / increments);
    if (sample >= end) continue;  // An earlier step already reaches `end`.
    const int64_t batch = train.rampup_batch_start + i * train.rampup_batch_increment;
    stages_.push_back({step, sample, batch});
    const int64_t steps = (end - sample - 1) / batch + 1;
    step += steps;
    sample = Saturated(Wide{sample} + Wide{steps} * batch);
  }
  stages_.push_back({step, sample, std::max<int64_t>(train.global_batch, 1)});
}

StepSamples BatchPlan::OfStep(int64_t step) const {
  const auto after = std::upper_bound(
      stages_.begin() + 1, stages_.end(), step,
      [](int64_t number, const Stage& stage) { return number < stage.first_step; });
  const Stage& stage = *(after - 1);
  return {Saturated(stage.first_sample + Wide{step - stage.first_step} * stage.batch), stage.batch};
}

int64_t BatchPlan::SamplesThrough(int64_t step) const {
  if (step <= 0) return 0;
  const StepSamples samples = OfStep(step);
  return Saturated(Wide{samples.first} + samples.count);
}

int64_t BatchPlan::StepOfSample(int64_t sample) const {
  const auto after = std::upper_bound(
      stages_.begin() + 1, stages_.end(), sample,
      [](int64_t number, const Stage& stage) { return number < stage.first_sample; });
  const Stage& stage = *(after - 1);
  return stage.first_step + (sample - stage.first_sample) / stage.batch;
}

int64_t BatchPlan::StepsFor(int64_t samples) const {
  return samples <= 0 ? 0 : StepOfSample(samples - 1);
}

bool HasRampup(const TrainConfig& train) {
  return train.rampup_batch_start != 0 || train.rampup_batch_increment != 0 ||
         train.rampup_batch_samples != 0;
}

}  // namespace trainyard
