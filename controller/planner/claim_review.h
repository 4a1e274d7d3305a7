// Checks whether the figures that a document claims for a run follow from the run's settings. Has
// no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CLAIM_REVIEW_H_
#define TRAINYARD_CONTROLLER_PLANNER_CLAIM_REVIEW_H_

#include <vector>

#include "controller/planner/claims.h"
#include "controller/planner/finding.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Reviews the claims. The layout in `config` may violate rules, but each setting must be within its
// limits.
std::vector<Finding> ReviewClaims(const RunConfig& config, const Claims& claims);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CLAIM_REVIEW_H_
