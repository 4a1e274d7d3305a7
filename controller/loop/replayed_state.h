// A state that a standby has rebuilt from the event log before it leads.
#ifndef TRAINYARD_CONTROLLER_LOOP_REPLAYED_STATE_H_
#define TRAINYARD_CONTROLLER_LOOP_REPLAYED_STATE_H_

#include <cstdint>
#include <optional>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

struct ReplayedState {
  ClusterState state;
  uint64_t last_sequence = 0;  // Number of the last event in the state.
  // Number of the last event in the snapshot from which the state was rebuilt; 0 if there was none.
  uint64_t snapshot_sequence = 0;
  // Steady time (Clock::Read) at which this standby read the last event while it waited for new
  // events; nullopt if it did not wait, because the event may then be much older.
  std::optional<int64_t> newest_read_ms;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_REPLAYED_STATE_H_
