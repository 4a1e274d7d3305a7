// Reads files of a rank as batches for the controller.
#ifndef TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_
#define TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "proto/support/clock.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/tail/log_parser.h"

namespace trainyard::worker {

// File and offset to read from. `now` is the time of records without a time. `ended`: the rank has
// exited, so an unfinished last line counts.
struct TailPosition {
  GuardedPath path;
  int64_t offset = 0;
  bool ended = false;
  Timestamp now = 0;
  // Nothing at or after this offset is read.
  int64_t until_offset = std::numeric_limits<int64_t>::max();
};

// The next records of a telemetry file; the caller sets `stream`. end_offset equals begin_offset if
// there is nothing new. A batch may advance the offset without containing a record (only bad
// lines). Errors as in ReadNewLines. Thread-safe.
absl::StatusOr<v1::TelemetryBatch> ReadTelemetry(const TailPosition& position);

// Like ReadTelemetry, from a rank's output parsed by a log parser. Lines not recognised by the
// parser do not count as bad.
absl::StatusOr<v1::TelemetryBatch> ReadParsedLog(const TailPosition& position,
                                                 const LogParser& parser);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_
