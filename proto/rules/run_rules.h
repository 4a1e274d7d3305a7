// Rules for a run's settings: derived values and constraints. The controller and the command line
// apply them when a job is submitted, the trainer when it starts. Sharing one implementation
// ensures that the trainer accepts what was accepted at submit.
#ifndef TRAINYARD_PROTO_RULES_RUN_RULES_H_
#define TRAINYARD_PROTO_RULES_RUN_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// True when each data-parallel rank owns a part of the optimizer's state (ZeRO 1 and above).
bool ShardsOptimizerState(const LayoutConfig& layout);

// Sets unset settings that follow from other settings: layout.dp, model.num_query_groups, and
// train.steps from train.samples or train.tokens. Returns the keys it set. `world_size`: ranks of
// the gang.
std::vector<std::string> FillDerived(int64_t world_size, RunConfig& config);

// Reports missing required settings.
std::vector<SettingProblem> FindMissing(const RunConfig& config);

// Reports settings outside their limits.
std::vector<SettingProblem> FindOutOfRange(const RunConfig& config);

// Reports layouts that do not result in `world_size` ranks or do not divide evenly. The rules apply
// to users' own programs as well.
std::vector<SettingProblem> FindLayoutProblems(int64_t world_size, const RunConfig& config);

// Reports violations of rules that span settings of model, batch and schedule. Precondition:
// FindMissing and FindOutOfRange found no problem.
std::vector<SettingProblem> FindTrainingProblems(const RunConfig& config);

// Reasons why this version of trainyard-trainer cannot start the run although its settings are
// consistent: no data.path, or an unsupported feature. Not needed for planning.
std::vector<SettingProblem> FindLaunchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_RUN_RULES_H_
