// Compares two checkpoints logically, independently of their layouts: `trainyard ckpt diff`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint_tools/commands/value_difference.h"

namespace trainyard::trainer {

struct DiffOptions {
  std::string a;
  std::string b;
  double tolerance = 0;  // Tensors count as equal up to this relative L2 difference.
  std::string only;      // Selects tensors (tensor_selection.h). If set, settings are not compared.
};

struct TensorDifference {
  std::string name;
  // Unset if the checkpoint does not contain the tensor.
  std::optional<LogicalTensor> a;
  std::optional<LogicalTensor> b;
  // Set if both tensors have the same shape and dtype.
  std::optional<ValueDifference> values;

  bool IsWithin(double tolerance) const { return values && values->IsWithin(tolerance); }
};

// A difference in a model setting ("model.num_layers") or in a part of the trainer state
// ("trainer.step"). A value is null if the checkpoint does not contain it.
struct SettingDifference {
  std::string key;
  nlohmann::json a;
  nlohmann::json b;
};

struct CheckpointDiff {
  std::vector<SettingDifference> settings;  // Different settings only.
  std::vector<TensorDifference> tensors;    // All compared tensors, sorted by name.

  bool IsWithin(double tolerance) const;
};

// Reads and verifies each block of the compared tensors once. Uses at most 1 GiB of memory plus the
// manifests, whatever the size of the checkpoints. Throws TrainerError: kBadCheckpoint, or kUsage
// if `only` matches no tensor.
CheckpointDiff DiffCheckpoints(const DiffOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_H_
