// The health of a job, in one word, with the findings behind it. No other code decides whether
// a running job is well: lists, the page, the command line, alerts and metrics show this
// result.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_JOB_HEALTH_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_JOB_HEALTH_H_

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::controller {

// Returns the health of a job that starts, runs or recovers. For other jobs, the word is
// UNSPECIFIED.
v1::JobHealth HealthOf(const ClusterState& state, const Observations& observations,
                       const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_JOB_HEALTH_H_
