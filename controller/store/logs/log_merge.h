// Answers a LogQuery by merging the streams of one job. Implements order, tail, cursor and chunks.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_LOG_MERGE_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_LOG_MERGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/logs/log_lines.h"
#include "controller/store/logs/log_store.h"

namespace trainyard::controller {

// The bytes of one stream of the job that were stored when the query started.
struct LogStream {
  StreamKey key;
  int64_t end_offset = 0;
  std::unique_ptr<SegmentSource> source;
};

using EmitLines = std::function<bool(std::vector<v1::LogLine>)>;

// INVALID_ARGUMENT if the query cannot be answered.
absl::Status CheckLogQuery(const LogQuery& query);

// True if the query includes this stream.
bool Wants(const LogQuery& query, const StreamKey& stream);

// Implements LogStore::ReadPage. `streams` are sorted by key.
absl::StatusOr<LogPage> ReadLogPage(const LogPageQuery& query,
                                    const std::vector<LogStream>& streams, bool include_partial);

// Runs one query over streams that are sorted by key. Times within a stream never decrease.
// Therefore reading forwards and reading backwards yield the same order: by time, then by rank.
class LogMerge {
 public:
  LogMerge(const LogQuery& query, std::vector<LogStream> streams, bool include_partial,
           LogCursor& cursor)
      : query_(query),
        matcher_(query),
        streams_(std::move(streams)),
        include_partial_(include_partial),
        cursor_(cursor) {}

  // Implements LogStore::Read.
  absl::Status Read(const EmitLines& emit);

 private:
  using AttemptStreams = std::span<const LogStream>;

  std::vector<AttemptStreams> Attempts() const;
  LineRange RangeOf(const LogStream& stream) const;
  absl::Status SkipToTail();
  absl::StatusOr<int64_t> SkipWithin(AttemptStreams attempt, int64_t wanted);
  absl::StatusOr<bool> ReadAttempt(AttemptStreams attempt, const EmitLines& emit);

  const LogQuery& query_;
  const LineMatcher matcher_;
  const std::vector<LogStream> streams_;
  const bool include_partial_;
  LogCursor& cursor_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_LOG_MERGE_H_
