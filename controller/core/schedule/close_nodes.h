// Chooses nodes that are close to each other in the topology.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLOSE_NODES_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLOSE_NODES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "controller/core/state/topology_index.h"

namespace trainyard::controller {

// A node that a gang could use.
struct CloseNode {
  std::string id;
  // The groups that contain it (TopologyIndex::PathOf).
  std::vector<int> path;
};

// Returns `count` of the candidates, which are in the order of preference, or all of them if they
// are fewer. The nodes are in the smallest group that has enough candidates. The group with
// the fewest candidates is used, so that larger gangs find large groups. If several groups
// are needed, as few as possible are used. `kept`: the paths of nodes that the gang has already;
// the smallest group that contains these and enough candidates is used.
std::vector<std::string> ChooseCloseNodes(const std::vector<CloseNode>& candidates,
                                          std::size_t count,
                                          const std::vector<std::vector<int>>& kept);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_CLOSE_NODES_H_
