#include "trainer/checkpoint/stored_evaluation.h"

#include <cmath>

namespace trainyard::trainer {
namespace {

constexpr char kEvaluation[] = "evaluation";
constexpr char kStep[] = "step";
constexpr char kLosses[] = "losses";

}  // namespace

std::optional<double> StoredEvaluation::LossOn(const std::string& set) const {
  const auto found = losses.find(set);
  return found == losses.end() ? std::nullopt : std::optional(found->second);
}

void AddEvaluation(const StoredEvaluation& evaluation, nlohmann::json& trainer_state) {
  if (evaluation.step < 0) return;
  trainer_state[kEvaluation] = {{kStep, evaluation.step}, {kLosses, evaluation.losses}};
}

StoredEvaluation EvaluationIn(const nlohmann::json& trainer_state) {
  if (!trainer_state.is_object() || !trainer_state.contains(kEvaluation)) return {};
  const nlohmann::json& stored = trainer_state[kEvaluation];
  const bool is_sound = stored.is_object() && stored.contains(kStep) &&
                        stored[kStep].is_number_integer() && stored.contains(kLosses) &&
                        stored[kLosses].is_object();
  if (!is_sound) return {};
  StoredEvaluation evaluation{stored[kStep].get<int64_t>(), {}};
  for (const auto& [set, loss] : stored[kLosses].items()) {
    if (loss.is_number() && std::isfinite(loss.get<double>())) {
      evaluation.losses[set] = loss.get<double>();
    }
  }
  return evaluation;
}

}  // namespace trainyard::trainer
