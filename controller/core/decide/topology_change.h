// Changes of the topology.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_TOPOLOGY_CHANGE_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_TOPOLOGY_CHANGE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns TopologySet, or no event if the topology does not change.
absl::StatusOr<std::vector<v1::Event>> DecideSetTopology(const ClusterState& state,
                                                         const v1::SetTopologyRequest& request,
                                                         const Principal& principal, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_TOPOLOGY_CHANGE_H_
