// Samples of each optimizer step. Pure.
//
// Without a ramp-up every step has train.global_batch samples. With one, as in Megatron-LM's
// `--rampup-batch-size START INCREMENT SAMPLES`: let n = (global_batch - START) / INCREMENT. A step
// that begins after c samples has START + floor(c * n / SAMPLES) * INCREMENT samples while
// c < SAMPLES, and global_batch samples from then on. Calculated in whole numbers.
#ifndef TRAINYARD_PROTO_RULES_BATCH_PLAN_H_
#define TRAINYARD_PROTO_RULES_BATCH_PLAN_H_

#include <cstdint>
#include <vector>

#include "proto/contract/train_config.h"

namespace trainyard {

// Maximum number of increments of a ramp-up.
inline constexpr int64_t kMaxRampupIncrements = 10000;

// Samples of one step: `first`, first + 1, ..., first + count - 1. Samples are numbered from 0 over
// the run.
struct StepSamples {
  int64_t first = 0;
  int64_t count = 0;

  bool operator==(const StepSamples&) const = default;
};

// The steps contain all samples in order, each once. Steps are numbered from 1 without end: the
// run's length is not part of the plan. Numbers that overflow are replaced by the largest int64_t.
// Thread-safe.
class BatchPlan {
 public:
  // Settings rejected by FindTrainingProblems result in a plan without a ramp-up.
  explicit BatchPlan(const TrainConfig& train);

  StepSamples OfStep(int64_t step) const;

  // Samples of the steps 1 to `step`; 0 for step 0.
  int64_t SamplesThrough(int64_t step) const;

  // The step that contains sample number `sample`, from 0.
  int64_t StepOfSample(int64_t sample) const;

  // The fewest steps that contain at least this many samples, from 0.
  int64_t StepsFor(int64_t samples) const;

 private:
  // Steps with the same number of samples, up to the next stage.
  struct Stage {
    int64_t first_step;
    int64_t first_sample;
    int64_t batch;
  };

  std::vector<Stage> stages_;  // At least one; the last has no end.
};

// True when any of the ramp-up's settings is set.
bool HasRampup(const TrainConfig& train);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_BATCH_PLAN_H_
