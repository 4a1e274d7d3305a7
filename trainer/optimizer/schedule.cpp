#include "trainer/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard::trainer {
namespace {

// From 0 just before step `first` to 1 at step `last` and after.
double Progress(int64_t step, int64_t before_first, int64_t last) {
  if (step <= before_first) return 0;
  if (step >= last) return 1;
  return static_cast<double>(step - before_first) / static_cast<double>(last - before_first);
}

// Steps over which the rate falls.
int64_t DecayLength(const ScheduleConfig& schedule, int64_t steps) {
  if (schedule.decay_steps > 0) return schedule.decay_steps;
  constexpr int64_t kWsdDecayShare = 10;  // A tenth of the run, as in MiniCPM (arXiv 2404.06395).
  return schedule.kind == ScheduleKind::kWsd ? std::max<int64_t>(steps / kWsdDecayShare, 1) : steps;
}

}  // namespace

double LearningRate(const ScheduleConfig& schedule, const OptimizerConfig& optimizer, int64_t steps,
                    int64_t step) {
  const int64_t warmup = schedule.warmup_steps;
  if (step < warmup) {
    return optimizer.lr * static_cast<double>(step) / static_cast<double>(warmup);
  }
  const int64_t length = DecayLength(schedule, steps);
  const double span = optimizer.lr - optimizer.min_lr;
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      return optimizer.lr;
    case ScheduleKind::kLinear:
      return optimizer.lr - span * Progress(step, warmup, length);
    case ScheduleKind::kCosine:
      return optimizer.min_lr +
             span * 0.5 * (1 + std::cos(std::numbers::pi * Progress(step, warmup, length)));
    case ScheduleKind::kWsd:
      return optimizer.lr - span * Progress(step, std::max(steps - length, warmup), steps);
  }
  return optimizer.lr;
}

}  // namespace trainyard::trainer
