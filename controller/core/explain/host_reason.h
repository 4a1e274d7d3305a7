// Explains a wait for CPU cores or memory.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_HOST_REASON_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_HOST_REASON_H_

#include <string>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Returns, for example, "; each node needs 512 GiB of memory in total, and of the nodes with enough
// free slots, gpu-3 has most unrequested memory: 400 GiB". Empty if the ranks request neither cores
// nor memory, or if neither is missing on a node with enough free slots.
std::string HostShortageText(const ClusterState& state, const v1::JobSpec& spec,
                             const GangShape& shape);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_HOST_REASON_H_
