// The log store in one SQLite database.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_SQLITE_LOG_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_SQLITE_LOG_STORE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/logs/log_store.h"
#include "controller/store/sqlite/mark_table.h"
#include "controller/store/sqlite/sqlite_database.h"

namespace trainyard::controller {

// Stores segments with checksums. When the small segments of a stream contain kPackedBytes in
// total, these segments are merged. There is one writer at a time. Readers use their own
// connections and never wait for the writer.
class SqliteLogStore : public LogStore {
 public:
  // The size of a merged segment before compression.
  static constexpr int64_t kPackedBytes = 256 * 1024;

  // Opens or creates the database and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqliteLogStore>> Open(const std::string& path);

  // INVALID_ARGUMENT if a stream does not contain output.
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

  void NoteLogMark(const v1::LogMark& mark) override;
  absl::Status WriteLogMark() override;
  absl::StatusOr<v1::LogMark> ReadLogMark() override;
  StoreMark Position() override { return mark_->position(); }

 private:
  SqliteLogStore(std::unique_ptr<SqliteDatabase> writer, std::unique_ptr<MarkTable> mark);

  std::mutex mutex_;
  std::unique_ptr<SqliteDatabase> writer_;  // Guarded by mutex_.
  const std::unique_ptr<MarkTable> mark_;   // Guarded by mutex_; position() needs no lock.
  SqliteReaderPool readers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_SQLITE_LOG_STORE_H_
