// Advice on a job that runs slowly or failed, by the findings of the planner.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUN_ADVICE_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUN_ADVICE_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/planner/finding.h"
#include "controller/planner/run_findings.h"

namespace trainyard::controller {

// Of a running job: slowness, by its speed, the waits of its steps and the planner's prediction for
// its slots. Of any job: the loss guard's decisions. Of a failed one: lack of memory, losses that
// are not finite. Empty for jobs with a command of their own, but for a lack of memory.
std::vector<planner::Finding> AdviceOn(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry);

// Settings of the job on which advice about spikes depends.
planner::SpikeSettings SpikeSettingsOf(const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_RUN_ADVICE_H_
