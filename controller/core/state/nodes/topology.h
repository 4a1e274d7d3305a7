// The topology in the state, and the groups of nodes.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_TOPOLOGY_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_TOPOLOGY_H_

#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/topology.pb.h"

namespace trainyard::controller {

// Replaces the topology, which must be valid, and its index.
void ReplaceTopology(const v1::Topology& topology, ClusterState& state);

// Returns the positions of the groups that contain the node, from the largest. Empty without a
// topology.
const std::vector<int>& TopologyPath(const ClusterState& state, const v1::Node& node);

// Returns the names of the groups that contain the node, from the largest.
std::vector<std::string> GroupNames(const ClusterState& state, const v1::Node& node);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_TOPOLOGY_H_
