// Forgetting nodes that are gone: by a user's request, or because a node was lost for long.
#ifndef TRAINYARD_CONTROLLER_CORE_NODE_REMOVAL_H_
#define TRAINYARD_CONTROLLER_CORE_NODE_REMOVAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/cluster_state.h"
#include "controller/core/decide.h"
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

// Of clusters that make a new node for each day's work. A worker of a node that was removed before
// these comes back as a new one.
inline constexpr std::size_t kMaxRemovedNodes = 10'000;

// Removes the node from the state; what its worker would need again is kept apart, for the
// kMaxRemovedNodes that were removed last. Part of Apply.
void ForgetNode(const std::string& node_id, Timestamp now, ClusterState& state);

// Gives a node that joins what the state kept of it when it was removed. Part of Apply.
void RecallNode(const std::string& node_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_NODE_REMOVAL_H_
