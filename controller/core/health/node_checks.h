// Checks of nodes (`trainyard doctor`): those that a worker reported, and those that only the
// controller can make.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_CHECKS_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_CHECKS_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Contact with the node, its clock against the controller's, its own checks, and its checkpoint
// root against that of the other nodes.
v1::NodeChecks ChecksOf(const ClusterState& state, const NodeEntry& entry,
                        const Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_CHECKS_H_
