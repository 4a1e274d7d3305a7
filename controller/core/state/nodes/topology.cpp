#include "controller/core/state/nodes/topology.h"

#include "controller/core/support/invariant.h"

namespace trainyard::controller {

void ReplaceTopology(const v1::Topology& topology, ClusterState& state) {
  state.topology = topology;
  state.topology_index = nullptr;
  if (topology.groups().empty()) return;
  const auto index = TopologyIndex::Make(topology);
  Require(index.ok(), "the topology in the state is not valid");
  state.topology_index = *index;
}

const std::vector<int>& TopologyPath(const ClusterState& state, const v1::Node& node) {
  static const std::vector<int> kNone;
  return state.topology_index == nullptr ? kNone : state.topology_index->PathOf(node.name());
}

std::vector<std::string> GroupNames(const ClusterState& state, const v1::Node& node) {
  std::vector<std::string> names;
  for (const int group : TopologyPath(state, node)) {
    names.push_back(state.topology_index->groups()[static_cast<std::size_t>(group)].name);
  }
  return names;
}

}  // namespace trainyard::controller
