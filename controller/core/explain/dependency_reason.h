// Explains why a job waits for other jobs (`after` in a job file).
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_DEPENDENCY_REASON_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_DEPENDENCY_REASON_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the pending reason of a job for which IsDependent is true. The reason names the first
// conditions that are not met, with the states of their jobs.
v1::PendingReason WhyDependent(const ClusterState& state, const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_DEPENDENCY_REASON_H_
