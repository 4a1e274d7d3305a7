// Advises on a slow or failed job, based on the planner's findings.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUN_ADVICE_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUN_ADVICE_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/planner/finding.h"
#include "controller/planner/run_findings.h"

namespace trainyard::controller {

// Returns advice for three kinds of jobs:
// - For a running trainyard-trainer: slowness, derived from its speed, its waits within a step, and
//   the planner's prediction for its slots. For any running program that reports its experts:
//   layers whose experts do not share the load.
// - For a job whose newest attempt failed: lack of memory, and losses that are not finite.
// - For any job: rollbacks and loss spikes.
std::vector<planner::Finding> AdviceOn(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry);

// Returns the job's settings that determine the advice about loss spikes.
planner::SpikeSettings SpikeSettingsOf(const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUN_ADVICE_H_
