// The parts of a step's time in telemetry.
#ifndef TRAINYARD_TRAINER_STEP_TIME_VALUES_H_
#define TRAINYARD_TRAINER_STEP_TIME_VALUES_H_

#include "trainer/parallel/step_clock.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Seconds by the keys of telemetry_keys.h: compute and optimizer, and the waits that took time.
MetricValues StepTimeValues(const StepTimes& times);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_TIME_VALUES_H_
