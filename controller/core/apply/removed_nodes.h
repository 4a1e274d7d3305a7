// The part of the state that is kept for removed nodes.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_REMOVED_NODES_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_REMOVED_NODES_H_

#include <cstddef>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Limits the state of clusters that create new nodes every day. If a node was removed too long ago
// to be kept, its worker joins as a new node.
inline constexpr std::size_t kMaxRemovedNodes = 10'000;

// Removes the node from the state. For the kMaxRemovedNodes most recently removed nodes, keeps the
// data that the worker needs to rejoin. Part of Apply.
void ForgetNode(const std::string& node_id, Timestamp now, ClusterState& state);

// Restores the saved state of a removed node when the node rejoins. Part of Apply.
void RecallNode(const std::string& node_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_REMOVED_NODES_H_
