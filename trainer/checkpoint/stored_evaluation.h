// The evaluation that belongs to a checkpoint, as its trainer state holds it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace trainyard::trainer {

// The newest evaluation at or before the checkpoint's step. A save at the step of an evaluation
// follows it, so the two steps are the same where both are due together.
struct StoredEvaluation {
  int64_t step = -1;                     // -1: the run was not evaluated before.
  std::map<std::string, double> losses;  // Finite, in nats a token, by evaluation set.

  // nullopt for a set that was not evaluated.
  std::optional<double> LossOn(const std::string& set) const;
};

// Adds it to a trainer state; nothing where there was no evaluation.
void AddEvaluation(const StoredEvaluation& evaluation, nlohmann::json& trainer_state);

// The evaluation in a trainer state. One that is malformed counts as none.
StoredEvaluation EvaluationIn(const nlohmann::json& trainer_state);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_
