// Finds settings in job files that are probably mistakes, although no rule
// (proto/rules/run_rules.h) forbids them. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_

#include <vector>

#include "controller/planner/finding.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Returns the number of tokens that the run trains on according to its settings. Ignores a batch
// ramp-up.
double TokensOf(const TrainConfig& train);

// `writes_sequence_parallel` is true if the job file itself sets layout.sequence_parallel.
std::vector<Finding> ReviewJob(const RunConfig& config, bool writes_sequence_parallel);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
