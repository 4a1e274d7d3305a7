// The events that a placement causes.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_EVENTS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_EVENTS_H_

#include <vector>

#include "controller/core/observations/root_sightings.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the JobPlaced event. For a job's first attempt, also returns a warning if the attempt's
// nodes do not share the checkpoint root.
std::vector<v1::Event> PlacementEvents(const ClusterState& state, const RootSightings& roots,
                                       const Placement& placement, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLACEMENT_EVENTS_H_
