// Explains the progress of an array.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_ARRAY_REASON_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_ARRAY_REASON_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the pending reason of an array whose elements may become jobs: the numbers of its
// elements, and why no further element becomes a job.
v1::PendingReason WhyArray(const ClusterState& state, const JobEntry& array);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_ARRAY_REASON_H_
