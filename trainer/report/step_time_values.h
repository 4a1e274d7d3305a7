// Telemetry values for the parts of a step's time.
#ifndef TRAINYARD_TRAINER_REPORT_STEP_TIME_VALUES_H_
#define TRAINYARD_TRAINER_REPORT_STEP_TIME_VALUES_H_

#include "trainer/parallel/step_clock.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Returns the seconds under the keys of telemetry_keys.h: compute, optimizer, and each wait that is
// not zero.
MetricValues StepTimeValues(const StepTimes& times);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_STEP_TIME_VALUES_H_
