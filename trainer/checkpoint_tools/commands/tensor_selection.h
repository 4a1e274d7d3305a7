// Selects tensors of a checkpoint by name.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_TENSOR_SELECTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_TENSOR_SELECTION_H_

#include <string>

namespace trainyard::trainer {

// True for optimizer state. Its name is "optimizer.exp_avg." (or a similar prefix) followed by the
// name of the weight.
inline bool IsOptimizerState(const std::string& name) { return name.starts_with("optimizer."); }

// True if `only` selects the tensor. `only` is "weights", "optimizer", a prefix of names, or empty
// for all tensors.
inline bool IsSelected(const std::string& name, const std::string& only) {
  if (only == "weights") return !IsOptimizerState(name);
  if (only == "optimizer") return IsOptimizerState(name);
  return name.starts_with(only);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_TENSOR_SELECTION_H_
