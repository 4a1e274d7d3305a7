// Review of a run that a document describes: settings that cannot be, and figures that do not
// follow from the settings. Pure functions. The settings of a job file are checked by
// proto/contract/run_rules.h.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_

#include <vector>

#include "controller/planner/described_run.h"
#include "controller/planner/finding.h"

namespace trainyard::planner {

// Tokens of the run by its settings; 0 where they do not say.
double TokensOf(const DescribedBatch& batch);

std::vector<Finding> ReviewRun(const DescribedRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_REVIEW_H_
