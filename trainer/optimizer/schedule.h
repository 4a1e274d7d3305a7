// The learning rate as a pure function of the step.
#ifndef TRAINYARD_TRAINER_OPTIMIZER_SCHEDULE_H_
#define TRAINYARD_TRAINER_OPTIMIZER_SCHEDULE_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Learning rate of step number `step`, from 1 to `steps`. Step s of a warm-up of w steps has
// lr * s / w; the last step of a decay has min_lr exactly.
double LearningRate(const ScheduleConfig& schedule, const OptimizerConfig& optimizer, int64_t steps,
                    int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPTIMIZER_SCHEDULE_H_
