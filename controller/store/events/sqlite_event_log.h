// The event log in one SQLite database.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_SQLITE_EVENT_LOG_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_SQLITE_EVENT_LOG_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/store/archive/sqlite_job_archive.h"
#include "controller/store/events/event_log.h"
#include "controller/store/events/log_terms.h"
#include "controller/store/events/noted_marks.h"
#include "controller/store/sqlite/priority_mutex.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Reads detect damage, because every event row has a checksum and the sequence numbers after the
// snapshot are contiguous. The message of DATA_LOSS names the damaged event.
class SqliteEventLog : public EventLog {
 public:
  // Opens or creates the database and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqliteEventLog>> Open(const std::string& path);

  absl::StatusOr<Recovery> Recover() override;
  absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) override;
  using EventLog::Append;
  absl::Status Append(const std::vector<LogRecord>& events,
                      const std::vector<v1::ArchivedJob>& archived) override;
  v1::LogMark NewestMark() const override { return terms_.Newest(); }
  bool Covers(const v1::LogMark& mark) const override { return terms_.Covers(mark); }
  void NoteStore(const std::string& store, const StoreMark& mark) override;
  absl::StatusOr<std::map<std::string, StoreMark>> StoreMarks() override;
  JobArchive& archive() override { return *archive_; }
  absl::Status TryWrite() override;
  // Writes the snapshot in parts, so that an append waits for at most one part. INVALID_ARGUMENT:
  // the snapshot is newer than the last event of the log.
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  // INVALID_ARGUMENT: `limit` is below 1.
  absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id, uint64_t before,
                                                               int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsAfter(uint64_t after, int limit) override;

  absl::StatusOr<StoreUsage> Usage() override;
  absl::StatusOr<int64_t> NextJob(int64_t after) override;
  absl::StatusOr<int64_t> JobBytes(int64_t job_id) override;
  absl::StatusOr<bool> Reclaim() override;
  absl::StatusOr<bool> DropJobEvents(int64_t job_id) override;
  absl::StatusOr<bool> DropNodeEvents(int64_t before_ms) override;
  absl::StatusOr<std::optional<v1::Event>> FindDeletion(int64_t job_id) override;
  absl::StatusOr<std::vector<v1::EventEntry>> OpenDeletions(uint64_t after) override;
  absl::StatusOr<bool> FinishDeletion(int64_t job_id) override;

 private:
  absl::Status CheckSnapshotEnd(uint64_t last_sequence) const;
  // Writes the parts of a sealed (compressed) snapshot and returns their set number. Returns 0 for
  // a small snapshot, which needs no parts.
  absl::StatusOr<int64_t> WriteSnapshotParts(std::string_view sealed);
  absl::Status InstallSnapshot(uint64_t last_sequence, std::string_view sealed, int64_t set);
  // Removes the parts of snapshots that were interrupted or replaced.
  absl::Status DropStaleParts();
  // Returns the sequence number of the newest event that may be removed. Requires mutex_.
  absl::StatusOr<int64_t> LastDroppable();

  SqliteEventLog(std::unique_ptr<SqliteDatabase> writer, uint64_t last_sequence,
                 std::unique_ptr<SqliteJobArchive> archive);
  absl::Status LoadTerms();
  // Writes the term of this process and the recorded store marks, as part of an append's
  // transaction.
  absl::Status WriteTerm();
  absl::Status WriteStoreMarks(int64_t time_ms);

  // Locked for one transaction at a time. Waiting appends get the mutex before other callers.
  PriorityMutex mutex_;
  std::unique_ptr<SqliteDatabase> writer_;  // Guarded by mutex_.
  uint64_t last_sequence_;                  // Guarded by mutex_.
  // All node events up to this sequence number are removed, so DropNodeEvents scans only later
  // events. Guarded by mutex_.
  int64_t node_events_dropped_ = 0;
  SqliteReaderPool readers_;
  const std::unique_ptr<SqliteJobArchive> archive_;
  const uint64_t term_;
  LogTerms terms_;
  NotedMarks noted_marks_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_SQLITE_EVENT_LOG_H_
