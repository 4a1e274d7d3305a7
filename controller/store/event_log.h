// The log of durable facts.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENT_LOG_H_
#define TRAINYARD_CONTROLLER_STORE_EVENT_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/log_record.h"
#include "controller/store/job_archive.h"
#include "controller/store/pruning.h"
#include "controller/store/store_mark.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Recover, Append and TryWrite are for the loop thread. Any thread may call the other functions,
// WriteSnapshot one at a time.
class EventLog : public PrunableEvents {
 public:
  struct Recovery {
    std::optional<v1::Snapshot> snapshot;
    // Events after the snapshot, in order.
    std::vector<v1::Event> events;
    // Sequence number of the last event; 0 when there is none.
    uint64_t last_sequence = 0;
  };

  // Everything needed to rebuild the state. DATA_LOSS when the log is damaged.
  virtual absl::StatusOr<Recovery> Recover() = 0;

  // Appends all events, and adds `archived` to the archive, or does neither. After OK they survive
  // a power cut. RESOURCE_EXHAUSTED: the disk is full, and none of them is in the log; Recover
  // returns the events that are. After any other error the caller must not go on: it ends the
  // process and recovers.
  virtual absl::Status Append(const std::vector<LogRecord>& events,
                              const std::vector<v1::ArchivedJob>& archived) = 0;
  absl::Status Append(const std::vector<v1::Event>& events,
                      const std::vector<v1::ArchivedJob>& archived = {}) {
    return Append(ToLogRecords(events), archived);
  }

  // The last event that an append of this process, or of an earlier one, made durable; without a
  // job number. Any thread.
  virtual v1::LogMark NewestMark() const = 0;
  // True when the log has the mark's event. False: the log has gone back in time. Any thread.
  virtual bool Covers(const v1::LogMark& mark) const = 0;

  // The store of this name is durable up to the mark. An append writes it, at most once a second of
  // the events' time. Any thread.
  virtual void NoteStore(const std::string& store, const StoreMark& mark) = 0;
  // Marks written by appends, by store.
  virtual absl::StatusOr<std::map<std::string, StoreMark>> StoreMarks() = 0;

  // Jobs that have left the state.
  virtual JobArchive& archive() = 0;

  // Writes and syncs without changing the log, to find out whether the disk has free space again.
  // Errors as Append.
  virtual absl::Status TryWrite() = 0;

  // Everything needed to rebuild the state as it was after the event `last_sequence`, which is in
  // the log; no snapshot of a later state may be there. DATA_LOSS when the log is damaged.
  virtual absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) = 0;

  // Replaces the snapshot; events that it holds may then be skipped by Recover, and may be
  // removed (pruning.h).
  virtual absl::Status WriteSnapshot(const v1::Snapshot& snapshot) = 0;

  // Newest `limit` events that name the job, oldest first.
  virtual absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) = 0;

  // Newest `limit` events before the sequence number `before` (0: up to the newest), newest first;
  // of one job, or of all jobs and nodes when job_id is 0.
  virtual absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id,
                                                                       uint64_t before,
                                                                       int limit) = 0;

  // Oldest `limit` events after the sequence number `after`, oldest first. Removed ones are left
  // out.
  virtual absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsAfter(uint64_t after,
                                                                      int limit) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENT_LOG_H_
