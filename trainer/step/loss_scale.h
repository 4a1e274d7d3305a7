// The loss scale of fp16 training. A pure function of the steps so far, with the rules of
// Megatron-LM's DynamicGradScaler.
#ifndef TRAINYARD_TRAINER_STEP_LOSS_SCALE_H_
#define TRAINYARD_TRAINER_STEP_LOSS_SCALE_H_

#include <cstdint>

#include "proto/contract/train_config.h"

namespace trainyard::trainer {

// State of the loss scale between two steps. The state is the same on all ranks.
struct LossScale {
  double scale = 0;            // Factor of the gradients in the next step; 0 without fp16.
  int64_t good_steps = 0;      // Steps in a row without an overflow since the scale last changed.
  int64_t hysteresis = 0;      // Overflows until the scale is halved. If <= 0, each one halves it.
  int64_t skipped_steps = 0;   // Steps of the run that changed no weights.
  int64_t skipped_in_row = 0;  // Skipped steps since the latest step that changed weights.

  bool operator==(const LossScale&) const = default;
};

// Returns the state from which a run continues. `stored` is the state of the checkpoint.
// stored.scale is 0 for a new run or a checkpoint of another precision. Without fp16, only the
// number of skipped steps is kept.
LossScale ResumedLossScale(const TrainConfig& train, const LossScale& stored);

// Returns the state after a step. `is_finite`: the step had a finite loss and gradient norm on all
// ranks. Without fp16, returns `current`.
LossScale NextLossScale(const TrainConfig& train, const LossScale& current, bool is_finite);

// True if the run can continue after a step that used `current` and was not finite: the run is in
// fp16, the scale can still be reduced, and fewer than kMostSkippedInRow steps in a row were
// skipped.
bool MaySkipStep(const TrainConfig& train, const LossScale& current);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_LOSS_SCALE_H_
