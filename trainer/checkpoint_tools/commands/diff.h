// Logical comparison of two checkpoints, regardless of their layouts: `trainyard ckpt diff`.
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
  double tolerance = 0;  // Maximum relative L2 difference of tensors that count as equal.
  std::string only;      // See tensor_selection.h. If set, model and state are not compared.
};

struct TensorDifference {
  std::string name;
  // Absent if the checkpoint does not have the tensor.
  std::optional<LogicalTensor> a;
  std::optional<LogicalTensor> b;
  // Set if both tensors have the same shape and dtype.
  std::optional<ValueDifference> values;

  bool IsWithin(double tolerance) const { return values && values->IsWithin(tolerance); }
};

// A model setting ("model.num_layers") or part of the trainer state ("trainer.step"). Null if the
// checkpoint does not have it.
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
// manifests, for any checkpoint size. Throws TrainerError: kBadCheckpoint, or kUsage if `only`
// selects nothing.
CheckpointDiff DiffCheckpoints(const DiffOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_H_
