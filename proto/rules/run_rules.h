// Derives unset settings of a run and checks all settings. The controller and the command line
// apply these rules when a job is submitted, and the trainer applies the rules when it starts. All
// three use this implementation, so the trainer accepts every job that passed at submission.
#ifndef TRAINYARD_PROTO_RULES_RUN_RULES_H_
#define TRAINYARD_PROTO_RULES_RUN_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// True if each data-parallel rank stores only a part of the optimizer's state (ZeRO stage 1 and
// above).
bool ShardsOptimizerState(const LayoutConfig& layout);

// Fills in unset settings that follow from other settings: layout.dp, model.num_query_groups, and
// train.steps from train.samples or train.tokens. Returns the keys of the filled settings.
// `world_size` is the number of ranks of the gang.
std::vector<std::string> FillDerived(int64_t world_size, RunConfig& config);

// Reports missing required settings.
std::vector<SettingProblem> FindMissing(const RunConfig& config);

// Reports settings outside their limits.
std::vector<SettingProblem> FindOutOfRange(const RunConfig& config);

// Reports too many ranks, sizes whose product is not `world_size`, and an ep that does not divide
// the ranks that share the experts. These checks also apply to jobs that run a user's own program.
std::vector<SettingProblem> FindLayoutProblems(int64_t world_size, const RunConfig& config);

// Reports settings of model, batch and schedule that contradict each other. Precondition:
// FindMissing and FindOutOfRange found no problem.
std::vector<SettingProblem> FindTrainingProblems(const RunConfig& config);

// Reports why this version of trainyard-trainer cannot start the run although its settings are
// consistent: data.path is missing, or a feature is not supported. The planner plans such runs and
// therefore does not call this function.
std::vector<SettingProblem> FindLaunchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_RUN_RULES_H_
