// The network between the nodes of a gang, for the planner.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_NETWORK_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/core/state/topology_index.h"
#include "controller/planner/cluster.h"
#include "controller/planner/network_tree.h"

namespace trainyard::controller {

// The name of the level above the largest groups.
inline constexpr char kOutsideLevel[] = "outside";

// Returns the part of the topology that the nodes use. `nodes`: names, in the order of ranks. A
// level without figures in the topology has those of `network`, as in a network without
// oversubscription. Nodes without a common group communicate at the lowest bandwidth of all levels.
// Returns nullptr if none of the nodes is in the topology.
std::shared_ptr<const planner::NetworkTree> NetworkOf(const TopologyIndex& topology,
                                                      const std::vector<std::string>& nodes,
                                                      int64_t per_node,
                                                      const planner::Link& network);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_NETWORK_H_
