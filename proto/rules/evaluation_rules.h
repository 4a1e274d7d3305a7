// Rules for evaluations, and for checkpoints that are saved or kept because of their evaluation
// loss.
#ifndef TRAINYARD_PROTO_RULES_EVALUATION_RULES_H_
#define TRAINYARD_PROTO_RULES_EVALUATION_RULES_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Returns the names of the run's evaluation sets. There is at least one, even if the run does not
// evaluate.
std::vector<std::string> EvaluationSetNames(const EvaluationConfig& evaluation);

// Returns the name of the evaluation set by whose loss checkpoints are compared: the set of
// checkpoint.best_metric or, if best_metric is not set, the first set. Precondition:
// FindEvaluationProblems found no problem.
std::string BestSetOf(const RunConfig& config);

// Returns the metric name for the loss of the set BestSetOf, such as "val_loss".
std::string BestMetricOf(const RunConfig& config);

// Returns the number of checkpoints that are kept because of their low evaluation loss.
int64_t KeptBest(const CheckpointConfig& checkpoint);

// Reports checkpoint settings that contradict evaluation settings.
std::vector<SettingProblem> FindEvaluationProblems(const RunConfig& config);

// Reports the reasons why the trainer could not start with evaluation.only, such as missing
// weights.
std::vector<SettingProblem> FindEvaluationLaunchProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_EVALUATION_RULES_H_
