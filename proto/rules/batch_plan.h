// Computes the samples of each optimizer step. Pure.
//
// Without a ramp-up every step has train.global_batch samples. A ramp-up works as in Megatron-LM's
// `--rampup-batch-size START INCREMENT SAMPLES`. Let n = (global_batch - START) / INCREMENT, and
// let c be the number of samples before a step. If c < SAMPLES, the step has START + floor(c * n /
// SAMPLES) * INCREMENT samples. Otherwise the step has global_batch samples. All calculations use
// integers.
#ifndef TRAINYARD_PROTO_RULES_BATCH_PLAN_H_
#define TRAINYARD_PROTO_RULES_BATCH_PLAN_H_

#include <cstdint>
#include <vector>

#include "proto/contract/train_config.h"

namespace trainyard {

// The maximum number of increments of a ramp-up.
inline constexpr int64_t kMaxRampupIncrements = 10000;

// The samples of one step, `first` to first + count - 1. Samples are numbered from 0 over the whole
// run.
struct StepSamples {
  int64_t first = 0;
  int64_t count = 0;

  bool operator==(const StepSamples&) const = default;
};

// Assigns each sample to one step, in order. Steps are numbered from 1. The plan has no end,
// because it does not depend on the run's length. A number that overflows becomes the largest
// int64_t. Thread-safe.
class BatchPlan {
 public:
  // If FindTrainingProblems would reject the ramp-up, the plan has no ramp-up.
  explicit BatchPlan(const TrainConfig& train);

  StepSamples OfStep(int64_t step) const;

  // Returns the number of samples in the steps 1 to `step`; 0 for step 0.
  int64_t SamplesThrough(int64_t step) const;

  // Returns the step that contains sample `sample`. Samples count from 0.
  int64_t StepOfSample(int64_t sample) const;

  // Returns the smallest number of steps, counted from the first, that contain at least `samples`
  // samples.
  int64_t StepsFor(int64_t samples) const;

 private:
  // Consecutive steps with the same number of samples, up to the next stage.
  struct Stage {
    int64_t first_step;
    int64_t first_sample;
    int64_t batch;
  };

  std::vector<Stage> stages_;  // Never empty; the last stage has no end.
};

// True if any setting of the ramp-up is set.
bool HasRampup(const TrainConfig& train);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_BATCH_PLAN_H_
