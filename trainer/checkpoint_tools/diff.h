// Logical comparison of two checkpoints, whatever layouts wrote them: `trainyard ckpt diff`.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_DIFF_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_DIFF_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint_tools/value_difference.h"

namespace trainyard::trainer {

struct DiffOptions {
  std::string a;
  std::string b;
  double tolerance = 0;  // largest relative L2 difference of tensors that count as the same
  std::string only;      // as in tensor_selection.h; then model and state are not compared
};

struct TensorDifference {
  std::string name;
  // Absent in the checkpoint that does not have the tensor.
  std::optional<LogicalTensor> a;
  std::optional<LogicalTensor> b;
  // Of two tensors of one shape and dtype.
  std::optional<ValueDifference> values;

  bool IsWithin(double tolerance) const { return values && values->IsWithin(tolerance); }
};

// A setting of the model ("model.num_layers"), or a part of the trainer's state ("trainer.step").
// Null in the checkpoint that does not have it.
struct SettingDifference {
  std::string key;
  nlohmann::json a;
  nlohmann::json b;
};

struct CheckpointDiff {
  std::vector<SettingDifference> settings;  // those that differ
  std::vector<TensorDifference> tensors;    // all that were compared, sorted by name

  bool IsWithin(double tolerance) const;
};

// Reads each block of the compared tensors once and checks it. Memory does not grow with the
// checkpoints, but for their manifests: at most 1 GiB. Throws TrainerError: kBadCheckpoint, or
// kUsage when `only` selects nothing.
CheckpointDiff DiffCheckpoints(const DiffOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_DIFF_H_
