// Telemetry values for the parts of a step's time.
#ifndef TRAINYARD_TRAINER_REPORT_STEP_TIME_VALUES_H_
#define TRAINYARD_TRAINER_REPORT_STEP_TIME_VALUES_H_

#include "trainer/parallel/step_clock.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Seconds by the keys of telemetry_keys.h: compute, optimizer and all nonzero waits.
MetricValues StepTimeValues(const StepTimes& times);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_STEP_TIME_VALUES_H_
