// Reviews a job file for settings that keep the rules (proto/rules/run_rules.h) but are probably
// a mistake. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_

#include <vector>

#include "controller/planner/finding.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Number of tokens of the run according to its settings, ignoring a batch ramp-up.
double TokensOf(const TrainConfig& train);

// `writes_sequence_parallel`: the job file sets layout.sequence_parallel, so it is not the default.
std::vector<Finding> ReviewJob(const RunConfig& config, bool writes_sequence_parallel);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
