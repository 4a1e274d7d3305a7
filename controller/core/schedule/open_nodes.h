// Counts nodes that could hold a running job.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_OPEN_NODES_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_OPEN_NODES_H_

#include "controller/core/schedule/placement.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Returns the number of open nodes on which the job may run, with enough slots for one node of its
// gang. The slots of the job's live attempt count as free. Only nodes of one group (node_groups.h)
// are counted together. If a gang of `nodes` nodes needs a shared checkpoint root, only nodes that
// share one root are.
int CountOpenNodesFor(const ClusterState& state, const NodeLimits& limits, const JobEntry& entry,
                      int nodes);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_OPEN_NODES_H_
