// The evaluation of a checkpoint, which is stored in its trainer state.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace trainyard::trainer {

// The last evaluation at or before the checkpoint's step. If an evaluation and a save are due at
// the same step, the evaluation is done first, so both have the same step.
struct StoredEvaluation {
  int64_t step = -1;                     // Step of the evaluation; -1 if there was none.
  std::map<std::string, double> losses;  // Finite losses in nats per token, by evaluation set.

  // Returns the loss on `set`; nullopt if the set was not evaluated.
  std::optional<double> LossOn(const std::string& set) const;
};

// Adds the evaluation to a trainer state. Does nothing if `evaluation` has no losses.
void AddEvaluation(const StoredEvaluation& evaluation, nlohmann::json& trainer_state);

// Reads the evaluation from a trainer state. A malformed evaluation is treated as missing.
StoredEvaluation EvaluationIn(const nlohmann::json& trainer_state);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STORED_EVALUATION_H_
