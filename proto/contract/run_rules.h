// Meaning of a run's settings: what follows from them and what they must keep. The controller and
// the command line apply these rules when a job is submitted, the trainer when it starts: one
// place, so that the trainer accepts whatever was accepted at submit.
#ifndef TRAINYARD_PROTO_CONTRACT_RUN_RULES_H_
#define TRAINYARD_PROTO_CONTRACT_RUN_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Width of one attention head.
int64_t HeadSize(const ModelConfig& model);
// Elements of a head that rotary positions turn.
int64_t RotarySize(const ModelConfig& model);

// True when data-parallel ranks own a part of the optimizer's state each (ZeRO 1 and above).
bool ShardsOptimizerState(const LayoutConfig& layout);

// Sets settings that are not written and follow from other settings: layout.dp,
// model.num_query_groups, train.steps from train.samples or train.tokens. Returns the keys that it
// set.
// `world_size`: ranks of the gang.
std::vector<std::string> FillDerived(int64_t world_size, RunConfig& config);

// Required settings that are not there.
std::vector<SettingProblem> FindMissing(const RunConfig& config);

// Settings outside of their limits.
std::vector<SettingProblem> FindOutOfRange(const RunConfig& config);

// Layouts that do not give `world_size` ranks or do not divide. Holds for users' own programs too.
std::vector<SettingProblem> FindLayoutProblems(int64_t world_size, const RunConfig& config);

// Rules that span settings of model, batch and schedule, on settings that FindMissing and
// FindOutOfRange have no objection to.
std::vector<SettingProblem> FindTrainingProblems(const RunConfig& config);

// Reasons why trainyard-trainer of this version cannot start the run, though its settings are
// consistent: no data.path, or a feature that the trainer lacks. Planning needs none of it.
std::vector<SettingProblem> FindLaunchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_RUN_RULES_H_
