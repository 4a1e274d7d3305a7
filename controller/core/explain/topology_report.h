// The topology and its nodes, for users.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_TOPOLOGY_REPORT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_TOPOLOGY_REPORT_H_

#include <string>
#include <vector>

#include "controller/core/schedule/cluster_view.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

v1::GetTopologyResponse TopologyReport(const ClusterView& view);

// Returns one sentence for each running gang that the topology divides although its job requires
// one group of a level, at most 100.
std::vector<std::string> DividedGangs(const ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_TOPOLOGY_REPORT_H_
