// Losses of history, as kept in the state.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_HISTORY_LOSSES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_HISTORY_LOSSES_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Skips job and attempt numbers (StoreRestored, EventsLost).
void SkipNumbers(int64_t job_ids, int64_t attempts, ClusterState& state);

// Loss recorded by an EventsLost or StoreDataLost event.
v1::HistoryLoss HistoryLossOf(const v1::Event& event);

// Adds the loss to the newest losses.
void AddLoss(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_HISTORY_LOSSES_H_
