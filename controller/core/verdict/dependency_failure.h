// The end of jobs that can never start, because a condition in `after` can no longer be met.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_DEPENDENCY_FAILURE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_DEPENDENCY_FAILURE_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns a JobEnded event for each job that can never start. Such a job fails at once instead of
// staying in the queue: an ended job never changes its outcome, a failure reaches hooks and
// `trainyard wait`, and the name of the job becomes free. Jobs that require the success of the
// failed job follow with the next call. A job that waits for a checkpoint of an ended job fails
// once no report of a checkpoint can arrive.
std::vector<v1::Event> DependencyFailuresDue(const ClusterState& state,
                                             const Observations& observations,
                                             const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_DEPENDENCY_FAILURE_H_
