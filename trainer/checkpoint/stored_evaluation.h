// The evaluation that belongs to a checkpoint, stored in its trainer state.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace trainyard::trainer {

// The latest evaluation at or before the checkpoint's step. If both are due at the same step, the
// evaluation precedes the save, so the two steps are equal.
struct StoredEvaluation {
  int64_t step = -1;                     // -1: not evaluated before.
  std::map<std::string, double> losses;  // Finite, in nats per token, by evaluation set.

  // nullopt if the set was not evaluated.
  std::optional<double> LossOn(const std::string& set) const;
};

// Adds the evaluation to a trainer state; does nothing if there is none.
void AddEvaluation(const StoredEvaluation& evaluation, nlohmann::json& trainer_state);

// Reads the evaluation from a trainer state. A malformed one counts as none.
StoredEvaluation EvaluationIn(const nlohmann::json& trainer_state);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_
