// Output of every rank: compressed segments with an index, and literal search.
#ifndef TRAINYARD_CONTROLLER_STORE_LOG_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_LOG_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/pruning.h"
#include "controller/store/store_mark.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/log_service.pb.h"

namespace trainyard::controller {

struct LogBatch {
  StreamKey stream;
  int64_t begin_offset = 0;
  int64_t time_ms = 0;
  std::string data;
};

struct LogQuery {
  int64_t job_id = 0;
  // Empty: all ranks.
  std::vector<int> ranks;
  // 0: every attempt, oldest first.
  int64_t attempt = 0;
  // Only lines that hold this text; empty means all.
  std::string grep;
  // Only the last lines that match; 0 means all.
  int64_t tail = 0;
  // Leaves out all lines that are stored now; `tail` is 0.
  bool new_only = false;
  // Becomes true when the client no longer waits for the answer: the scan ends with CANCELLED at
  // its next segment. Must outlive the call; may be null.
  const std::atomic<bool>* abandoned = nullptr;
};

// Position of a follower: bytes of each stream that it has been given as whole lines.
using LogCursor = std::map<StreamKey, int64_t>;

// Between the lines of a job, which are ordered by attempt, time, rank and offset. Attempt 0 stands
// for all attempts: before the first line of each at or after the time.
struct LogPosition {
  int64_t attempt = 0;
  int64_t time_ms = 0;
  int rank = -1;
  int64_t offset = -1;
};

struct LogPageQuery {
  // `tail` is ignored.
  LogQuery lines;
  // Lines after the place, else before it.
  bool newer = false;
  int limit = 0;
  // The line at this position is not part of the page. Nothing: the beginning when newer, else the
  // end.
  std::optional<LogPosition> from;
  // At least 0: the line that holds this byte of the only stream is the first of a newer page, and
  // follows an older one.
  int64_t from_offset = -1;
};

struct LogPage {
  // Oldest first.
  std::vector<v1::LogLine> lines;
  // True when there are, or may be, lines on that side.
  bool more_before = false;
  bool more_after = false;
  // Stored bytes of each stream that the query wants.
  std::vector<std::pair<StreamKey, int64_t>> extents;
};

// Thread-safe.
class LogStore : public PrunableData, public MarkedStore {
 public:
  // Stores all batches or none; durable on return. INVALID_ARGUMENT: a stream of another kind.
  // Bytes that are stored already are skipped; a batch that begins beyond the stored offset is
  // OUT_OF_RANGE.
  virtual absl::Status Append(const std::vector<LogBatch>& batches) = 0;

  virtual absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) = 0;

  // Gives the lines that `cursor` has not been given, by attempt, then time, then rank, in chunks
  // of at most about 1 MiB, and moves the cursor. An unfinished last line is given only when its
  // attempt is over (`include_partial`). Stops early when `emit` returns false; the chunk that it
  // was called with counts as given. With `tail` or `new_only`, the cursor of every stream is moved
  // past the lines left out before the first chunk is given: a caller that stopped early goes on
  // with the same cursor and neither of the two.
  virtual absl::Status Read(const LogQuery& query, bool include_partial, LogCursor& cursor,
                            const std::function<bool(std::vector<v1::LogLine>)>& emit) = 0;

  // At most `limit` lines beside a place. Except with `grep`, the cost does not grow with the
  // length of the log on either side of it.
  virtual absl::StatusOr<LogPage> ReadPage(const LogPageQuery& query, bool include_partial) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOG_STORE_H_
