// Selects tensors of a checkpoint by name.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_TENSOR_SELECTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_TENSOR_SELECTION_H_

#include <string>

namespace trainyard::trainer {

// Optimizer state of a weight is named "optimizer.exp_avg." (or similar) plus the weight's name.
inline bool IsOptimizerState(const std::string& name) { return name.starts_with("optimizer."); }

// only: "weights", "optimizer", a name prefix, or empty for all tensors.
inline bool IsSelected(const std::string& name, const std::string& only) {
  if (only == "weights") return !IsOptimizerState(name);
  if (only == "optimizer") return IsOptimizerState(name);
  return name.starts_with(only);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_TENSOR_SELECTION_H_
