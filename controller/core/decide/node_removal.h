// Removal of nodes, either on a user's request or after a long time without a heartbeat.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_REMOVAL_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_REMOVAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Removes a lost node. NOT_FOUND, INVALID_ARGUMENT: see FindNode. FAILED_PRECONDITION: the node is
// not lost, or it has ranks of the newest attempt of a live or recovering job.
absl::StatusOr<std::vector<v1::Event>> DecideNodeRemoval(const ClusterState& state,
                                                         const v1::RemoveNodeRequest& request,
                                                         const Principal& principal, Timestamp now);

// Returns the removals of lost nodes that sent no heartbeat for options.forget_lost_after_ms. Keeps
// cordoned and quarantined nodes, and nodes that a live or recovering job needs.
std::vector<v1::Event> NodesToForget(const ClusterState& state, const CoreOptions& options,
                                     Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_REMOVAL_H_
