// Stores the output of every rank in compressed segments with an index, and searches it for text,
// regular expressions and levels.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_LOG_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_LOG_STORE_H_

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
#include "controller/core/support/stream_key.h"
#include "controller/store/support/pruning.h"
#include "controller/store/support/store_mark.h"
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
  // Empty means all ranks.
  std::vector<int> ranks;
  // 0 means every attempt, oldest first.
  int64_t attempt = 0;
  // Selects only lines that contain this text. Empty means all lines.
  std::string grep;
  // True if `grep` ignores upper and lower case.
  bool ignore_case = false;
  // True if `grep` is a regular expression in RE2 syntax.
  bool regex = false;
  // Selects only lines of this level or of a worse level.
  v1::LogLevel min_level = v1::LOG_LEVEL_UNSPECIFIED;
  // Selects only the last `tail` matching lines. 0 means all lines.
  int64_t tail = 0;
  // Skips all lines that are stored when the query starts. Requires `tail` 0.
  bool new_only = false;
  // The caller sets this to true when the client no longer waits for the answer. The scan then ends
  // with
  // CANCELLED at its next segment. Must outlive the call; may be null.
  const std::atomic<bool>* abandoned = nullptr;
};

// Returns true if the query does not select all lines, so that its cost depends on the length of
// the log.
inline bool IsSearch(const LogQuery& query) {
  return !query.grep.empty() || query.min_level != v1::LOG_LEVEL_UNSPECIFIED;
}

// The progress of a reader: for each stream, the number of bytes that were already returned as
// whole lines.
using LogCursor = std::map<StreamKey, int64_t>;

// A position in the log of a job. Lines are ordered by attempt, time, rank and offset. If `attempt`
// is
// 0, the position applies to every attempt: it is just before the attempt's first line at or after
// `time_ms`.
struct LogPosition {
  int64_t attempt = 0;
  int64_t time_ms = 0;
  int rank = -1;
  int64_t offset = -1;
};

struct LogPageQuery {
  // `tail` is ignored.
  LogQuery lines;
  // True for lines after the position, false for lines before it.
  bool newer = false;
  int limit = 0;
  // If `newer` is true, the page starts just after the line at this position. Otherwise the page
  // ends just before that line. nullopt means the beginning of the log if `newer` is true,
  // otherwise its end.
  std::optional<LogPosition> from;
  // If not negative, a byte offset in the query's only stream. If `newer` is true, the page starts
  // with the line that contains this byte; otherwise the page ends just before that line.
  int64_t from_offset = -1;
};

struct LogPage {
  // Oldest first.
  std::vector<v1::LogLine> lines;
  // more_before and more_after are true if there are, or may be, lines before and after this page.
  bool more_before = false;
  bool more_after = false;
  // The number of stored bytes of each stream that the query includes.
  std::vector<std::pair<StreamKey, int64_t>> extents;
};

// Thread-safe.
class LogStore : public PrunableData, public MarkedStore {
 public:
  // Stores all batches or none. The batches are durable when the call returns. Skips bytes that are
  // already stored. OUT_OF_RANGE: a batch begins beyond the stored offset. INVALID_ARGUMENT: a
  // stream does not contain output.
  virtual absl::Status Append(const std::vector<LogBatch>& batches) = 0;

  virtual absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) = 0;

  // Passes the lines after `cursor` to `emit` and advances the cursor. Lines are ordered by
  // attempt, then time, then rank, and passed in chunks of at most about 256 KiB. An unfinished
  // last line is included only if its attempt is over. Set `include_partial` if the newest attempt
  // is over. Stops early if `emit` returns false; that chunk counts as read.
  //
  // With `tail` or `new_only`, the cursor of every stream is moved past the skipped lines before
  // the first chunk. A caller that stopped early must therefore continue with the same cursor but
  // without these options.
  virtual absl::Status Read(const LogQuery& query, bool include_partial, LogCursor& cursor,
                            const std::function<bool(std::vector<v1::LogLine>)>& emit) = 0;

  // Returns at most `limit` lines before or after a position. Unless the query is a search, the
  // cost does not depend on the length of the log.
  virtual absl::StatusOr<LogPage> ReadPage(const LogPageQuery& query, bool include_partial) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_LOG_STORE_H_
