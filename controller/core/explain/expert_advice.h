// Advises on layers whose experts do not share the load.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPERT_ADVICE_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPERT_ADVICE_H_

#include <vector>

#include "controller/core/observations/expert_watch.h"
#include "controller/planner/finding.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Returns a finding for each problem. Names job settings only if the job runs trainyard-trainer.
std::vector<planner::Finding> AdviceOnExperts(const std::vector<ExpertProblem>& problems,
                                              const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_EXPERT_ADVICE_H_
