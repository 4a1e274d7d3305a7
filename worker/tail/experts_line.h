// Reads an `experts` record: the balance of the layers with experts in one step.
#ifndef TRAINYARD_WORKER_TAIL_EXPERTS_LINE_H_
#define TRAINYARD_WORKER_TAIL_EXPERTS_LINE_H_

#include "absl/status/status.h"
#include "trainyard/v1/telemetry.pb.h"
#include "worker/tail/telemetry_values.h"

namespace trainyard::worker {

// INVALID_ARGUMENT: a missing field, or a field whose size does not fit the layers and experts.
absl::Status ReadExperts(const TelemetryValues& values, v1::ExpertsRecord& record);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_EXPERTS_LINE_H_
