// Gangs: their nodes in the order of their ranks.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_ORDER_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_ORDER_H_

#include <optional>
#include <string>
#include <vector>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The slots of one node of a gang, ordered by local rank.
struct NodeSlots {
  std::string node_id;
  std::vector<int> slots;
};

// A gang, ordered by node rank. Ranks are numbered node by node, so that a tensor-parallel group
// stays on one node. Nodes at position `training_nodes` and above are spares.
using Gang = std::vector<NodeSlots>;
std::vector<v1::RankPlacement> RanksOf(const Gang& gang, int training_nodes);

// Returns the slots that each node of an ended attempt had. The nodes of the gang come first, by
// place, followed by the unused spare nodes.
Gang GangOf(const v1::Attempt& attempt);

// Sorts by the position in the topology, so that ranks with close numbers are close to each other,
// then by node name, because users identify nodes by name.
void SortByPlace(const ClusterState& state, Gang& gang);

// Returns the gang as it would be placed if every slot were free: in the smallest group of the
// topology, on nodes with the fewest slots. Returns nullopt if the nodes on which the job may run
// are too few.
std::optional<Gang> PlaceOnEmptyCluster(const ClusterState& state, const GangShape& shape,
                                        const v1::JobSpec& spec = v1::JobSpec::default_instance());

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_ORDER_H_
