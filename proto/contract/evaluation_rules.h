// Rules of evaluations, and of the checkpoints that are saved and kept by their losses.
#ifndef TRAINYARD_PROTO_CONTRACT_EVALUATION_RULES_H_
#define TRAINYARD_PROTO_CONTRACT_EVALUATION_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Names of the run's evaluation sets: at least one, whether or not the run evaluates.
std::vector<std::string> EvaluationSetNames(const EvaluationConfig& evaluation);

// The evaluation set whose loss compares checkpoints: checkpoint.best_metric, or the first set.
// Precondition: FindEvaluationProblems has no objection.
std::string BestSetOf(const RunConfig& config);

// The metric that is the loss of that set, such as "val_loss".
std::string BestMetricOf(const RunConfig& config);

// Checkpoints that are kept for their loss.
int64_t KeptBest(const CheckpointConfig& checkpoint);

// Settings of checkpoints that contradict those of evaluations.
std::vector<SettingProblem> FindEvaluationProblems(const RunConfig& config);

// Reasons why evaluation.only could not start: no weights.
std::vector<SettingProblem> FindEvaluationLaunchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_EVALUATION_RULES_H_
