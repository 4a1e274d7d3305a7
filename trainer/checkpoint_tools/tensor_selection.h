// Choice of tensors of a checkpoint by name.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_SELECTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_SELECTION_H_

#include <string>

namespace trainyard::trainer {

// The optimizer's state of a weight has the weight's name behind "optimizer.exp_avg." and the like.
inline bool IsOptimizerState(const std::string& name) { return name.starts_with("optimizer."); }

// only: "weights", "optimizer", a prefix of names, or empty for every tensor.
inline bool IsSelected(const std::string& name, const std::string& only) {
  if (only == "weights") return !IsOptimizerState(name);
  if (only == "optimizer") return IsOptimizerState(name);
  return name.starts_with(only);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_SELECTION_H_
