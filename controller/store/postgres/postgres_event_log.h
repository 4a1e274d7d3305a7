// The event log in PostgreSQL.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_EVENT_LOG_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_EVENT_LOG_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/events/event_log.h"
#include "controller/store/events/log_terms.h"
#include "controller/store/events/noted_marks.h"
#include "controller/store/postgres/postgres_database.h"
#include "controller/store/postgres/postgres_job_archive.h"
#include "controller/store/postgres/postgres_pool.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Every transaction that writes checks that the leader's row names `leader_term` (leader_table.h).
// ABORTED: another controller leads; nothing was written, and this controller must exit.
class PostgresEventLog : public EventLog {
 public:
  // `settings`: see PostgresDatabase::Connect. The schema must be up to date (MigrateEvents).
  static absl::StatusOr<std::unique_ptr<PostgresEventLog>> Open(const std::string& settings,
                                                                int64_t leader_term);

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
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id, uint64_t before,
                                                               int limit) override;
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsAfter(uint64_t after, int limit) override;

  // The size of the tables with their indexes. The server's vacuum reuses free space, so
  // free_bytes is 0 and Reclaim has nothing to do.
  absl::StatusOr<StoreUsage> Usage() override;
  absl::StatusOr<int64_t> NextJob(int64_t after) override;
  absl::StatusOr<int64_t> JobBytes(int64_t job_id) override;
  absl::StatusOr<bool> Reclaim() override { return false; }
  absl::StatusOr<bool> DropJobEvents(int64_t job_id) override;
  absl::StatusOr<bool> DropNodeEvents(int64_t before_ms) override;
  absl::StatusOr<std::optional<v1::Event>> FindDeletion(int64_t job_id) override;
  absl::StatusOr<std::vector<v1::EventEntry>> OpenDeletions(uint64_t after) override;
  absl::StatusOr<bool> FinishDeletion(int64_t job_id) override;

 private:
  PostgresEventLog(const std::string& settings, int64_t leader_term);
  absl::Status Load();
  absl::Status InsertEvents(const std::vector<LogRecord>& events);
  absl::Status InsertDeletions(const std::vector<LogRecord>& events,
                               PostgresJobArchive::Changes& changes);
  // Returns true if these events change no other table, and need no second statement.
  bool HasOnlyEvents(const std::vector<LogRecord>& events) const;
  absl::Status AppendOnlyEvents(const std::vector<LogRecord>& events);
  // Writes the term of this process and the noted store marks.
  absl::Status WriteTermAndMarks(int64_t time_ms);
  absl::StatusOr<Recovery> ReadRecovery(uint64_t last);
  // Returns the sequence number of the newest event that may be removed.
  absl::StatusOr<int64_t> LastDroppable(PostgresDatabase& database);
  uint64_t last_sequence() const;

  const int64_t leader_term_;
  PostgresPool pool_;  // For reading, and for writes in the background.
  std::unique_ptr<PostgresJobArchive> archive_;
  mutable std::mutex mutex_;
  std::unique_ptr<PostgresDatabase> writer_;  // For appends. Guarded by mutex_.
  uint64_t last_sequence_ = 0;                // Guarded by mutex_.
  // All node events up to this sequence number are removed. Used only by DropNodeEvents.
  std::mutex drop_mutex_;
  int64_t node_events_dropped_ = 0;  // Guarded by drop_mutex_.
  // Random, unlike leader_term_: a database that is restored from a backup would count the same
  // terms of the leader again.
  const uint64_t term_ = NewTermId();
  LogTerms terms_;
  NotedMarks noted_marks_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_EVENT_LOG_H_
