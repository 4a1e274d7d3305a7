// The log of durable facts.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_LOG_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/event_log/log_record.h"
#include "controller/store/archive/job_archive.h"
#include "controller/store/support/pruning.h"
#include "controller/store/support/store_mark.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Call Recover, Append and TryWrite only on the loop thread. Only one thread at a time may call
// WriteSnapshot. Any thread may call the other functions.
class EventLog : public PrunableEvents {
 public:
  struct Recovery {
    std::optional<v1::Snapshot> snapshot;
    // The events after the snapshot, in order.
    std::vector<v1::Event> events;
    // The sequence number of the last event, or 0 if there is none.
    uint64_t last_sequence = 0;
  };

  // Returns everything needed to rebuild the state. DATA_LOSS: the log is damaged.
  virtual absl::StatusOr<Recovery> Recover() = 0;

  // Appends all events and adds `archived` to the archive, or changes nothing. After OK, the events
  // survive a power failure. RESOURCE_EXHAUSTED: the disk is full, and the log contains none of
  // these events; call Recover to get the state that the log contains. After any other error, the
  // caller must end the process and recover.
  virtual absl::Status Append(const std::vector<LogRecord>& events,
                              const std::vector<v1::ArchivedJob>& archived) = 0;
  absl::Status Append(const std::vector<v1::Event>& events,
                      const std::vector<v1::ArchivedJob>& archived = {}) {
    return Append(ToLogRecords(events), archived);
  }

  // Returns the mark of the last durable event, without a job id. May be called on any thread.
  virtual v1::LogMark NewestMark() const = 0;
  // Returns true if the log contains the mark's event. If not, the log is an older copy of the log
  // that issued the mark. May be called on any thread.
  virtual bool Covers(const v1::LogMark& mark) const = 0;

  // Sets `mark` as the newest durable position of the named store. Append stores the recorded marks
  // at most once per second, measured by the times of the events. May be called on any thread.
  virtual void NoteStore(const std::string& store, const StoreMark& mark) = 0;
  // Returns the marks that Append has stored, by store name.
  virtual absl::StatusOr<std::map<std::string, StoreMark>> StoreMarks() = 0;

  // Returns the archive of jobs that are no longer in the state.
  virtual JobArchive& archive() = 0;

  // Tests whether the disk has free space again. Writes and syncs without changing the log. Errors:
  // see Append.
  virtual absl::Status TryWrite() = 0;

  // Returns everything needed to rebuild the state after event `last_sequence`. The log must
  // contain this event, and its snapshot must not be newer. DATA_LOSS: the log is damaged.
  virtual absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) = 0;

  // Replaces the snapshot. Recover may then skip the events up to the snapshot, and these events
  // may be removed (pruning.h).
  virtual absl::Status WriteSnapshot(const v1::Snapshot& snapshot) = 0;

  // Returns the newest `limit` events of the job, oldest first.
  virtual absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) = 0;

  // Returns the newest `limit` events with a sequence number below `before` (0: no bound), newest
  // first. If `job_id` is not 0, returns only events of this job.
  virtual absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id,
                                                                       uint64_t before,
                                                                       int limit) = 0;

  // Returns the oldest `limit` events with a sequence number above `after`, oldest first. Skips
  // removed events.
  virtual absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsAfter(uint64_t after,
                                                                      int limit) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_EVENT_LOG_H_
