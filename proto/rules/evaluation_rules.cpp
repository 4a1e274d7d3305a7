#include "proto/rules/evaluation_rules.h"

#include <algorithm>

#include "proto/contract/telemetry_keys.h"
#include "proto/contract/token_format.h"
#include "proto/rules/data_sources.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

bool SavesTheBest(const CheckpointConfig& checkpoint) {
  return checkpoint.always_save_checkpoint.has_value() && !*checkpoint.always_save_checkpoint;
}

// "code_loss, val_loss".
std::string LossesOf(const EvaluationConfig& evaluation) {
  std::string text;
  for (const std::string& name : EvaluationSetNames(evaluation)) {
    text += (text.empty() ? "" : ", ") + telemetry::EvaluationLoss(name);
  }
  return text;
}

void CheckBestMetric(const RunConfig& config, Problems& problems) {
  const std::string& metric = config.checkpoint.best_metric;
  if (metric.empty()) return;
  if (KeptBest(config.checkpoint) == 0) {
    problems.push_back({"checkpoint.best_metric",
                        "`checkpoint.best_metric` needs `checkpoint.keep_best` above 0, or "
                        "`checkpoint.always_save_checkpoint` false; set one of the two, or remove "
                        "`checkpoint.best_metric`"});
  }
  const std::vector<std::string> names = EvaluationSetNames(config.evaluation);
  const auto is_named = [&](const std::string& name) {
    return telemetry::EvaluationLoss(name) == metric;
  };
  if (std::any_of(names.begin(), names.end(), is_named)) return;
  problems.push_back(
      {"checkpoint.best_metric",
       "`checkpoint.best_metric` is " + metric +
           ", which no evaluation set reports; set it to one of: " + LossesOf(config.evaluation)});
}

}  // namespace

std::vector<std::string> EvaluationSetNames(const EvaluationConfig& evaluation) {
  std::vector<std::string> names;
  for (const EvaluationSet& set : EvaluationSetsOf(evaluation).sets) names.push_back(set.name);
  if (names.empty()) names.push_back(token_format::kValidationSplit);
  return names;
}

std::string BestSetOf(const RunConfig& config) {
  const std::vector<std::string> names = EvaluationSetNames(config.evaluation);
  for (const std::string& name : names) {
    if (telemetry::EvaluationLoss(name) == config.checkpoint.best_metric) return name;
  }
  return names.front();
}

std::string BestMetricOf(const RunConfig& config) {
  return telemetry::EvaluationLoss(BestSetOf(config));
}

int64_t KeptBest(const CheckpointConfig& checkpoint) {
  return std::max<int64_t>(checkpoint.keep_best, SavesTheBest(checkpoint) ? 1 : 0);
}

Problems FindEvaluationProblems(const RunConfig& config) {
  Problems problems;
  const CheckpointConfig& checkpoint = config.checkpoint;
  const auto needs_evaluations = [&](const std::string& key) {
    problems.push_back({key, "`" + key + "` needs evaluations; set `evaluation.every_steps`"});
  };
  if (config.evaluation.every_steps == 0 && !config.evaluation.only) {
    if (checkpoint.keep_best > 0) needs_evaluations("checkpoint.keep_best");
    if (checkpoint.always_save_checkpoint.has_value()) {
      needs_evaluations("checkpoint.always_save_checkpoint");
    }
  }
  CheckBestMetric(config, problems);
  return problems;
}

Problems FindEvaluationLaunchProblems(const RunConfig& config) {
  if (!config.evaluation.only) return {};
  if (!config.checkpoint.resume_from.empty() || !config.checkpoint.dir.empty()) return {};
  return {{"evaluation.only",
           "`evaluation.only` needs weights; name a checkpoint in `checkpoint.resume_from`, or "
           "the directory of a run's checkpoints in `checkpoint.dir`"}};
}

}  // namespace trainyard
