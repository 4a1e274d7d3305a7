// Slots of the cluster over time, counted per hour. The ledger derives idle slots from them.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_CAPACITY_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_CAPACITY_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

inline constexpr int64_t kHourMs = 3'600'000;

// Counts `slots` from capacity.until_ms to `until`. An empty history begins at `until`. Hours older
// than a year are dropped.
void CountCapacity(int64_t slots, Timestamp until, v1::CapacityHistory& capacity);

// Moves the history by `step_ms` when the wall clock is set, like all times in the state. The sum
// stays the same. An hour that straddles two hours afterwards is split in proportion.
void ShiftCapacity(int64_t step_ms, v1::CapacityHistory& capacity);

// The state's history, counted up to `now`.
v1::CapacityHistory CapacityUntil(const ClusterState& state, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_CAPACITY_H_
