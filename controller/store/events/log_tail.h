// Reads the event log while another controller appends to it.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_LOG_TAIL_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_LOG_TAIL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Used by one thread.
class LogTail {
 public:
  struct Batch {
    // True if the state begins anew with `snapshot`, or with an empty state if there is none.
    bool restarts = false;
    std::optional<v1::Snapshot> snapshot;
    // The next events without a gap, in order; a few hundred at most.
    std::vector<v1::Event> events;
    // Number of the last event of the batch or, without events, of the state before the batch.
    uint64_t last_sequence = 0;
    // True if the log has further events.
    bool has_more = false;
  };

  virtual ~LogTail() = default;

  // Returns the events after `after`. Restarts if `after` is 0, or if the next event was removed
  // because a newer snapshot contains it. DATA_LOSS: the log is damaged. After any error, open a
  // new tail.
  virtual absl::StatusOr<Batch> ReadAfter(uint64_t after) = 0;

  // True if the session with the database has lasted since the tail was opened. Another copy of the
  // database cannot have replaced it in this time, because this would have ended the session.
  virtual bool IsSameSession() const = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_LOG_TAIL_H_
