// Reviews the figures that a document claims for a run: they must follow from its settings. Pure
// functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CLAIM_REVIEW_H_
#define TRAINYARD_CONTROLLER_PLANNER_CLAIM_REVIEW_H_

#include <vector>

#include "controller/planner/claims.h"
#include "controller/planner/finding.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Reviews the claims. The layout in `config` may break rules, but each setting must be within its
// limits.
std::vector<Finding> ReviewClaims(const RunConfig& config, const Claims& claims);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CLAIM_REVIEW_H_
