// Reads `environment` lines of telemetry.
#ifndef TRAINYARD_WORKER_TAIL_ENVIRONMENT_LINE_H_
#define TRAINYARD_WORKER_TAIL_ENVIRONMENT_LINE_H_

#include "absl/status/status.h"
#include "trainyard/v1/telemetry.pb.h"
#include "worker/tail/telemetry_values.h"

namespace trainyard::worker {

// All keys are optional. The controller limits the sizes.
absl::Status ReadEnvironment(const TelemetryValues& values, v1::EnvironmentRecord& record);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_ENVIRONMENT_LINE_H_
