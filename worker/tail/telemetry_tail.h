// Files of a rank -> batches for the controller.
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

// File and offset to read from. `now` becomes the time of records without a time. `ended`: the rank
// has exited, so an unfinished last line counts.
struct TailPosition {
  GuardedPath path;
  int64_t offset = 0;
  bool ended = false;
  Timestamp now = 0;
  // Nothing at or behind this offset is read.
  int64_t until_offset = std::numeric_limits<int64_t>::max();
};

// The next records of a telemetry file; `stream` is left for the caller to fill. end_offset equal
// to begin_offset means nothing new; a batch may move the offset and hold no record (bad lines
// only). Errors as ReadNewLines. Thread-safe.
absl::StatusOr<v1::TelemetryBatch> ReadTelemetry(const TailPosition& position);

// The same from a rank's output, through a log parser. Lines that the parser does not recognise are
// not counted as bad.
absl::StatusOr<v1::TelemetryBatch> ReadParsedLog(const TailPosition& position,
                                                 const LogParser& parser);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_
