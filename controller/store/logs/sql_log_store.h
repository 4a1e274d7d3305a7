// The log store in the tables of a database, SQLite or PostgreSQL.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_SQL_LOG_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_SQL_LOG_STORE_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/logs/log_store.h"
#include "controller/store/sql/mark_table.h"
#include "controller/store/sql/sql_connections.h"

namespace trainyard::controller {

// Stores segments with checksums (stored_segments.h). There is one writer at a time. Readers use
// their own connections and never wait for the writer.
class SqlLogStore : public LogStore {
 public:
  // The schema of the database must be up to date.
  static absl::StatusOr<std::unique_ptr<SqlLogStore>> Open(
      std::unique_ptr<SqlConnections> connections);

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
  SqlLogStore(std::unique_ptr<SqlConnections> connections, std::unique_ptr<MarkTable> mark)
      : connections_(std::move(connections)), mark_(std::move(mark)) {}

  std::mutex mutex_;  // Held during each transaction that writes.
  const std::unique_ptr<SqlConnections> connections_;
  const std::unique_ptr<MarkTable> mark_;  // Guarded by mutex_; position() needs no lock.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_SQL_LOG_STORE_H_
