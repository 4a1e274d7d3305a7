// A state that a standby rebuilds from the event log of the leader before it leads.
#ifndef TRAINYARD_CONTROLLER_KERNEL_REPLAYED_STATE_H_
#define TRAINYARD_CONTROLLER_KERNEL_REPLAYED_STATE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "controller/core/state/cluster_state.h"
#include "controller/store/events/event_log.h"
#include "controller/store/events/log_tail.h"

namespace trainyard::controller {

struct ReplayedState {
  ClusterState state;
  uint64_t last_sequence = 0;  // Number of the last event in the state.
  // Number of the last event in the snapshot from which the state was rebuilt; 0 if there was none.
  uint64_t snapshot_sequence = 0;
  // Steady time (Clock::Read) of the last look at the log that left no event unread; nullopt if
  // there was none.
  std::optional<int64_t> complete_look_ms;
  // Steady time at which the last event was written, to within a few seconds; nullopt if the event
  // may be older.
  std::optional<int64_t> newest_ms;
};

// Applies a batch that a standby has read at the steady time `now_ms`. UNIMPLEMENTED: the leader is
// of a newer release. After an error, the state must not be used.
absl::Status ApplyBatch(LogTail::Batch batch, int64_t now_ms, ReplayedState& replayed);

// Applies the events of the log after the state, for a standby that has begun its term. After an
// error, the state does not fit the log and must not be used.
absl::Status CatchUp(EventLog& log, ReplayedState& replayed);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_REPLAYED_STATE_H_
