// Explains why a running job does not run as its user expects.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUNNING_HINT_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUNNING_HINT_H_

#include <optional>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the most important reason and, as advice, the next step. Returns nullopt if the job is
// not running, or runs as expected.
std::optional<v1::PendingReason> RunningHint(const ClusterState& state,
                                             const Observations& observations,
                                             const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUNNING_HINT_H_
