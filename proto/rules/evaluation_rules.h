// Rules for evaluations, and for checkpoints that are saved and kept by their evaluation loss.
#ifndef TRAINYARD_PROTO_RULES_EVALUATION_RULES_H_
#define TRAINYARD_PROTO_RULES_EVALUATION_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Names of the run's evaluation sets: at least one, even if the run does not evaluate.
std::vector<std::string> EvaluationSetNames(const EvaluationConfig& evaluation);

// The evaluation set whose loss is used to compare checkpoints: checkpoint.best_metric, or the
// first set. Precondition: FindEvaluationProblems found no problem.
std::string BestSetOf(const RunConfig& config);

// The metric with the loss of that set, such as "val_loss".
std::string BestMetricOf(const RunConfig& config);

// Number of checkpoints kept because of a low evaluation loss.
int64_t KeptBest(const CheckpointConfig& checkpoint);

// Reports checkpoint settings that contradict evaluation settings.
std::vector<SettingProblem> FindEvaluationProblems(const RunConfig& config);

// Reasons why evaluation.only could not start, such as missing weights.
std::vector<SettingProblem> FindEvaluationLaunchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_EVALUATION_RULES_H_
