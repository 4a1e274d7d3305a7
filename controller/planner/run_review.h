// Review of a run that a document describes: settings that cannot be, and figures that do not
// follow from the settings; and of a job file, for what holds by the rules
// (proto/contract/run_rules.h) and is hardly meant. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_

#include <vector>

#include "controller/planner/described_run.h"
#include "controller/planner/finding.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Tokens of the run by its settings; 0 where they do not say.
double TokensOf(const DescribedBatch& batch);

std::vector<Finding> ReviewRun(const DescribedRun& run);

// `writes_sequence_parallel`: layout.sequence_parallel is written, and no default.
std::vector<Finding> ReviewJob(const RunConfig& config, bool writes_sequence_parallel);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
