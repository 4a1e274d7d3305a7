// Rules for the global batch and its ramp-up.
#ifndef TRAINYARD_PROTO_RULES_BATCH_RULES_H_
#define TRAINYARD_PROTO_RULES_BATCH_RULES_H_

#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Reports batches that the ranks cannot divide evenly, and ramp-ups that are incomplete or have a
// fractional number of increments.
std::vector<SettingProblem> FindBatchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_BATCH_RULES_H_
