// The answer to `trainyard why`.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_

#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Returns the pending reason, the verdict, or the current activity, in one sentence. For a live
// gang, the sentence ends with the time limit of the gang's current state (gang_limit.h).
v1::WhyJobResponse ExplainJob(const ClusterView& view, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPLAIN_H_
