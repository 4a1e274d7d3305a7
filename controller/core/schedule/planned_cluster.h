// The cluster for which the planner predicts a gang.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLANNED_CLUSTER_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLANNED_CLUSTER_H_

#include <string>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/planner/cluster.h"
#include "controller/planner/mixed_device.h"

namespace trainyard::controller {

// Must not be copied, because `cluster` refers to `mixed`.
struct PlannedCluster {
  planner::MixedDevice mixed;
  planner::Cluster cluster;
};

// Sets the cluster of a gang of this shape on nodes of one kind. `device` has the format of
// GrantedLayout. If the performance of a model is not known, returns the model. Otherwise returns
// "".
std::string FillCluster(const GangShape& shape, const std::string& device, PlannedCluster& planned);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PLANNED_CLUSTER_H_
