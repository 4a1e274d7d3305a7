#include "controller/core/observations/evaluated_losses.h"

#include <algorithm>

#include "proto/contract/telemetry_keys.h"
#include "proto/contract/token_format.h"

namespace trainyard::controller {
namespace {

// Returns nullptr if the set is new and there is no space for it.
v1::EvaluatedLoss* FindOrAdd(const std::string& set, v1::Progress& progress) {
  auto& all = *progress.mutable_evaluations();
  const auto found = std::ranges::find_if(
      all, [&](const v1::EvaluatedLoss& evaluated) { return evaluated.data_set() == set; });
  if (found != all.end()) return &*found;
  if (all.size() >= kShownEvaluationSets) return nullptr;
  v1::EvaluatedLoss* added = all.Add();
  added->set_data_set(set);
  return added;
}

void SetIfPresent(const std::string& set, const v1::MetricsRecord& metrics,
                  v1::Progress& progress) {
  const auto loss = metrics.values().find(telemetry::EvaluationLoss(set));
  if (loss == metrics.values().end()) return;
  SetEvaluatedLoss(set, metrics.step(), loss->second, progress);
}

}  // namespace

void SetEvaluatedLoss(const std::string& set, int64_t step, double loss, v1::Progress& progress) {
  if (set.empty() || set.size() > kMaxSetNameBytes) return;
  if (set == token_format::kValidationSplit) progress.set_validation_loss(loss);
  v1::EvaluatedLoss* evaluated = FindOrAdd(set, progress);
  if (evaluated == nullptr) return;
  evaluated->set_step(step);
  evaluated->set_loss(loss);
  auto& all = *progress.mutable_evaluations();
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.data_set() < b.data_set(); });
}

void ObserveEvaluatedLosses(const v1::MetricsRecord& metrics, v1::Progress& progress) {
  SetIfPresent(token_format::kValidationSplit, metrics, progress);
  for (const std::string& set : metrics.evaluation_sets()) SetIfPresent(set, metrics, progress);
}

}  // namespace trainyard::controller
