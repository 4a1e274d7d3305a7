// Writes telemetry lines for a program that does not report its checkpoints or metrics itself.
#ifndef TRAINYARD_WORKER_TAIL_CHECKPOINT_LINES_H_
#define TRAINYARD_WORKER_TAIL_CHECKPOINT_LINES_H_

#include <string>

#include "absl/status/status.h"
#include "proto/support/clock.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::worker {

// Return lines that ParseTelemetryLine reads, each with a line end.
std::string CheckpointLine(const v1::CheckpointRecord& record, Timestamp time_ms);
std::string AlertLine(const v1::AlertRecord& record, Timestamp time_ms);
// Returns one line for the metrics, and one for the loss of each evaluation set of the record.
std::string MetricsLines(const v1::MetricsRecord& record, Timestamp time_ms);

// Appends complete lines to a telemetry file to which the program may append, too. UNAVAILABLE: the
// file ends inside a line of the program; try again. If `ended` is true, the program no longer
// writes, and the incomplete line is ended.
absl::Status AppendTelemetry(const GuardedPath& path, const std::string& lines, bool ended);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_CHECKPOINT_LINES_H_
