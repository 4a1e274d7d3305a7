// The losses of history that the state contains.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_HISTORY_LOSSES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_HISTORY_LOSSES_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Skips job and attempt numbers that may already have been used. For StoreRestored and EventsLost
// events.
void SkipNumbers(int64_t job_ids, int64_t attempts, ClusterState& state);

// Returns the loss that an EventsLost or StoreDataLost event records.
v1::HistoryLoss HistoryLossOf(const v1::Event& event);

// Adds the event's loss to the list of the newest losses.
void AddLoss(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_HISTORY_LOSSES_H_
