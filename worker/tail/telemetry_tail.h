// Reads files of a rank and returns batches for the controller.
#ifndef TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_
#define TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "proto/parsers/log_parser.h"
#include "proto/support/clock.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// The bytes before a position that are read again for the context of a log parser.
inline constexpr int64_t kContextBytes = 64 << 10;

// The file and the offset to read from. Records without a time get the time `now`. `ended` is true
// if the rank has exited; an unfinished last line is then read too.
struct TailPosition {
  GuardedPath path;
  int64_t offset = 0;
  bool ended = false;
  Timestamp now = 0;
  // No byte at or after this offset is read.
  int64_t until_offset = std::numeric_limits<int64_t>::max();
};

// Returns the next records of a telemetry file; the caller sets `stream`. If there is nothing new,
// end_offset equals begin_offset. A batch without records can still advance the offset, if all its
// lines were bad. Returns the same errors as ReadNewLines. Thread-safe.
absl::StatusOr<v1::TelemetryBatch> ReadTelemetry(const TailPosition& position);

// Like ReadTelemetry, but reads the output of a rank with a log parser. Lines that the parser does
// not recognize do not count as bad. If the meaning of lines depends on earlier lines, also reads
// up to kContextBytes before the position, so that the result depends only on the position.
// Consecutive records of such a parser for one step are merged.
absl::StatusOr<v1::TelemetryBatch> ReadParsedLog(const TailPosition& position,
                                                 const LogParser& parser);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_TELEMETRY_TAIL_H_
