// The number of slots of the cluster over time, counted per hour. The ledger computes idle slot
// time from this number.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_CAPACITY_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_CAPACITY_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

inline constexpr int64_t kHourMs = 3'600'000;

// Adds `slots` for the time from capacity.until_ms to `until`. An empty history begins at `until`.
// Hours older than a year are removed.
void CountCapacity(int64_t slots, Timestamp until, v1::CapacityHistory& capacity);

// Shifts the history by `step_ms` after the wall clock was set, as is done for all times in the
// state. The sum does not change. If a shifted hour overlaps two hours, its slot time is divided
// between them in proportion.
void ShiftCapacity(int64_t step_ms, v1::CapacityHistory& capacity);

// Returns the state's history, extended to `now`.
v1::CapacityHistory CapacityUntil(const ClusterState& state, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_CAPACITY_H_
