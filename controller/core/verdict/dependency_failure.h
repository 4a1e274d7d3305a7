// The end of jobs that can never start, because a job named in `after` has not succeeded.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_DEPENDENCY_FAILURE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_DEPENDENCY_FAILURE_H_

#include <vector>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns a JobEnded event for each job that can never start. Such a job fails at once instead of
// staying in the queue: an ended job never changes its outcome, a failure reaches hooks and
// `trainyard wait`, and the name of the job becomes free. Jobs that name the failed job follow with
// the next call.
std::vector<v1::Event> DependencyFailuresDue(const ClusterState& state, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_DEPENDENCY_FAILURE_H_
