// Memory of removed nodes.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_REMOVED_NODES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_REMOVED_NODES_H_

#include <cstddef>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Of clusters that make a new node for each day's work. A worker of a node that was removed before
// these comes back as a new one.
inline constexpr std::size_t kMaxRemovedNodes = 10'000;

// Removes the node from the state; what its worker would need again is kept apart, for the
// kMaxRemovedNodes that were removed last. Part of Apply.
void ForgetNode(const std::string& node_id, Timestamp now, ClusterState& state);

// Gives a node that joins what the state kept of it when it was removed. Part of Apply.
void RecallNode(const std::string& node_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_REMOVED_NODES_H_
