// In-memory log store for simulation and tests. The tests of SqliteLogStore use this store as
// their reference.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_MEMORY_LOG_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_MEMORY_LOG_STORE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/logs/log_segment.h"
#include "controller/store/logs/log_store.h"

namespace trainyard::controller {

class MemoryLogStore : public WithMemoryMark<LogStore> {
 public:
  absl::Status Append(const std::vector<LogBatch>& batches) override;
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override;
  absl::Status Read(const LogQuery& query, bool include_partial, LogCursor& cursor,
                    const std::function<bool(std::vector<v1::LogLine>)>& emit) override;
  absl::StatusOr<LogPage> ReadPage(const LogPageQuery& query, bool include_partial) override;

  absl::StatusOr<StoreUsage> Usage() override;
  absl::StatusOr<int64_t> NextJob(int64_t after) override;
  absl::StatusOr<int64_t> JobBytes(int64_t job_id) override;
  absl::StatusOr<bool> Reclaim() override;
  absl::Status DropJob(int64_t job_id) override;

 private:
  struct Line {
    StreamKey stream;
    v1::LogLine line;
    int64_t end = 0;
  };

  struct Stream {
    LogSegment output;  // The whole output, from byte 0.
    LineSplitter splitter = LineSplitter(0);
  };

  // Checks all batches. Called before any of them is stored.
  absl::Status CheckBatches(const std::vector<LogBatch>& batches) const;
  static void AppendTo(Stream& stream, const LogBatch& batch);
  std::vector<Line> MatchingLines(const LogQuery& query, bool include_partial, LogCursor& cursor);

  static bool IsAfter(const v1::LogLine& line, const LogPosition& position);

  std::mutex mutex_;
  std::map<StreamKey, Stream> streams_;  // Guarded by mutex_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_MEMORY_LOG_STORE_H_
