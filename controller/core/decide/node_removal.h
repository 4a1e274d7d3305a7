// Forgetting nodes that are gone: by a user's request, or because a node was lost for long.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_REMOVAL_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_REMOVAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// The removal of a lost node. NOT_FOUND, INVALID_ARGUMENT: FindNode. FAILED_PRECONDITION: the node
// is not lost, or a job that has not ended has its newest attempt there.
absl::StatusOr<std::vector<v1::Event>> DecideNodeRemoval(const ClusterState& state,
                                                         const v1::RemoveNodeRequest& request,
                                                         Timestamp now);

// Removals of nodes without a heartbeat for options.forget_lost_after_ms.
std::vector<v1::Event> NodesToForget(const ClusterState& state, const CoreOptions& options,
                                     Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_NODE_REMOVAL_H_
