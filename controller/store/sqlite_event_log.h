// The event log in one SQLite database.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_EVENT_LOG_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_EVENT_LOG_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/event_log.h"
#include "controller/store/sqlite_database.h"
#include "controller/store/sqlite_job_archive.h"

namespace trainyard::controller {

// Every event row carries a checksum and the numbers have no holes, so damage is found when the log
// is read: DATA_LOSS names the event.
class SqliteEventLog : public EventLog {
 public:
  // Opens or creates the database and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqliteEventLog>> Open(const std::string& path);

  absl::StatusOr<Recovery> Recover() override;
  absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) override;
  using EventLog::Append;
  absl::Status Append(const std::vector<v1::Event>& events,
                      const std::vector<v1::ArchivedJob>& archived) override;
  JobArchive& archive() override { return *archive_; }
  absl::Status TryWrite() override;
  // INVALID_ARGUMENT when the snapshot claims events that the log does not hold.
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  // INVALID_ARGUMENT when limit is below 1.
  absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id, uint64_t before,
                                                               int limit) override;

 private:
  SqliteEventLog(std::unique_ptr<SqliteDatabase> writer, uint64_t last_sequence,
                 std::unique_ptr<SqliteJobArchive> archive);

  // Held for the length of one transaction.
  std::mutex mutex_;
  std::unique_ptr<SqliteDatabase> writer_;  // Guarded by mutex_.
  uint64_t last_sequence_;                  // Guarded by mutex_.
  SqliteReaderPool readers_;
  const std::unique_ptr<SqliteJobArchive> archive_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_EVENT_LOG_H_
