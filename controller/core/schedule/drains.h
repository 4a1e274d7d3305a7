// Drains of nodes, and the start of reservations that drain their nodes. A drained node gets no new
// rank, and the jobs on it yield their slots at the deadline. A job moves earlier if it has just
// saved and the whole cluster has slots for it.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_DRAINS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_DRAINS_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the events that are due because nodes are being drained or reserved: AttemptYielded for
// jobs that must leave or can move now, and NodeDrained for nodes on which no process of a job
// runs. The caller must not append these events to other events about attempts.
std::vector<v1::Event> DrainEventsDue(const ClusterState& state, const Observations& observations,
                                      const NodeLimits& limits, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_DRAINS_H_
