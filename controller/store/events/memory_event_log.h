// In-memory event log for simulation and tests.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_MEMORY_EVENT_LOG_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_MEMORY_EVENT_LOG_H_

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/store/archive/memory_job_archive.h"
#include "controller/store/events/event_log.h"
#include "controller/store/events/log_terms.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Stores events in serialized form. Fields that are not serialized are lost, as in a database.
// Thread-safe. A test simulates a restart of the controller by recovering from the same
// object.
class MemoryEventLog : public EventLog {
 public:
  absl::StatusOr<Recovery> Recover() override;
  absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) override;
  using EventLog::Append;
  absl::Status Append(const std::vector<LogRecord>& events,
                      const std::vector<v1::ArchivedJob>& archived) override;
  v1::LogMark NewestMark() const override { return terms_.Newest(); }
  bool Covers(const v1::LogMark& mark) const override { return terms_.Covers(mark); }
  void NoteStore(const std::string& store, const StoreMark& mark) override;
  absl::StatusOr<std::map<std::string, StoreMark>> StoreMarks() override;
  JobArchive& archive() override { return archive_; }
  absl::Status TryWrite() override { return absl::OkStatus(); }
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
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
  Recovery Read(uint64_t last_sequence) const;
  // Removes the events for which `goes` returns true, if the snapshot covers them. Never removes
  // the newest event.
  template <typename Goes>
  void DropWhere(const Goes& goes);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::string> events_;        // Removed events are empty strings.
  std::map<int64_t, uint64_t> deletions_;  // Sequence numbers by job.
  std::set<int64_t> open_deletions_;
  std::optional<std::string> snapshot_;
  MemoryJobArchive archive_;
  std::map<std::string, StoreMark> store_marks_;
  LogTerms terms_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_MEMORY_EVENT_LOG_H_
