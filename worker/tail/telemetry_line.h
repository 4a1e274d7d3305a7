// Parses one line of a rank's telemetry file into a TelemetryRecord. worker/README.md describes the
// lines.
#ifndef TRAINYARD_WORKER_TAIL_TELEMETRY_LINE_H_
#define TRAINYARD_WORKER_TAIL_TELEMETRY_LINE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "trainyard/v1/telemetry.pb.h"
#include "worker/tail/telemetry_values.h"

namespace trainyard::worker {

// Parses a line. NaN, Infinity and -Infinity are accepted as numbers, because Python's json writes
// them. In a metrics record, every key with a number becomes a metric, except time_ms, step,
// total_steps, and names with control characters. Keys with other values are ignored unless a field
// needs them. If time_ms is missing, it is 0. INVALID_ARGUMENT, with the cause: the line is not an
// object, the type or the phase is unknown, a required field is missing or has the wrong type, or a
// limit is exceeded. Thread-safe.
absl::StatusOr<v1::TelemetryRecord> ParseTelemetryLine(std::string_view line);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_LINE_H_
