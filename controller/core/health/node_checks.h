// The checks of a node for `trainyard doctor`: the checks that its worker reports, and the checks
// that only the controller can make.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_CHECKS_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_CHECKS_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns five kinds of checks: contact, identity, clock offset, the worker's own checks, and a
// comparison of the checkpoint root with that of other nodes. If the worker has reported no checks,
// returns only the contact check.
v1::NodeChecks ChecksOf(const ClusterState& state, const NodeEntry& entry,
                        const Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_NODE_CHECKS_H_
