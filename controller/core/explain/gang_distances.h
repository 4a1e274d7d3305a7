// Distances between the ranks of a planned gang, by the topology.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_GANG_DISTANCES_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_GANG_DISTANCES_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Adds the distance of each axis of the job's layout and the predicted step time, for the placement
// and the layout in the response. Adds nothing without a topology or a placement, for a gang of one
// node, and if the layout or the performance of the devices is not known.
void AddDistances(const ClusterState& state, const v1::JobSpec& spec,
                  v1::PlanJobResponse& response);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_GANG_DISTANCES_H_
