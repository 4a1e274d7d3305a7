// The table of log segments. Appended bytes become small segments at once. When the small segments
// of a stream contain kPackedLogBytes in total, they are merged.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_STORED_SEGMENTS_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_STORED_SEGMENTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/logs/log_lines.h"
#include "controller/store/logs/log_segment.h"
#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

// The size of a merged segment before compression.
inline constexpr int64_t kPackedLogBytes = 256 * 1024;

struct StoredSegment {
  int64_t stream_id = 0;
  LogSegment segment;
};

// Requires a write transaction.
absl::Status WriteSegments(SqlDatabase& database, const std::vector<StoredSegment>& segments);

// Merges the small segments of the stream, which begin at `packed_offset`, and `fresh` into
// segments of kPackedLogBytes. The bytes that remain are stored as a small segment. Returns the
// offset of this segment. Requires a write transaction.
absl::StatusOr<int64_t> PackSegments(SqlDatabase& database, int64_t stream_id,
                                     int64_t packed_offset, const LogSegment& fresh);

// Reads the segments of a stream. `database` must outlive the source. `abandoned`: see LogQuery.
std::unique_ptr<SegmentSource> MakeSegmentSource(SqlDatabase& database, int64_t stream_id,
                                                 const std::atomic<bool>* abandoned);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_STORED_SEGMENTS_H_
