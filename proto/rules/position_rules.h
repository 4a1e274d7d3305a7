// Rules for position embeddings.
#ifndef TRAINYARD_PROTO_RULES_POSITION_RULES_H_
#define TRAINYARD_PROTO_RULES_POSITION_RULES_H_

#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Reports rotary positions that do not fit the head size, contradictory settings of scaled
// positions, and settings that have no effect with the chosen kind of positions.
std::vector<SettingProblem> FindPositionProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_POSITION_RULES_H_
