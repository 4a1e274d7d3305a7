#include "trainer/step/loss_scale.h"

#include <algorithm>

#include "proto/rules/loss_scale_rules.h"

namespace trainyard::trainer {

LossScale ResumedLossScale(const TrainConfig& train, const LossScale& stored) {
  if (!ScalesLoss(train)) return {.skipped_steps = stored.skipped_steps};
  if (stored.scale > 0) return stored;
  return {.scale = train.initial_loss_scale,
          .hysteresis = train.hysteresis,
          .skipped_steps = stored.skipped_steps};
}

LossScale NextLossScale(const TrainConfig& train, const LossScale& current, bool is_finite) {
  if (!ScalesLoss(train)) return current;
  LossScale next = current;
  if (!is_finite) {
    next.good_steps = 0;
    ++next.skipped_steps;
    ++next.skipped_in_row;
    if (--next.hysteresis <= 0) next.scale = std::max(current.scale / 2, train.min_loss_scale);
    return next;
  }
  next.skipped_in_row = 0;
  if (++next.good_steps < train.loss_scale_window) return next;
  next.good_steps = 0;
  next.hysteresis = train.hysteresis;
  next.scale = current.scale * 2;
  return next;
}

bool MaySkipStep(const TrainConfig& train, const LossScale& current) {
  return ScalesLoss(train) && current.scale > train.min_loss_scale &&
         current.skipped_in_row + 1 < kMostSkippedInRow;
}

}  // namespace trainyard::trainer
