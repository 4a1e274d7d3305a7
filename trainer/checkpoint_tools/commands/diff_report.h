// Formats a comparison of checkpoints as text and as JSON.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_REPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "trainer/checkpoint_tools/commands/diff.h"

namespace trainyard::trainer {

// Returns the first of these words that applies: "only_in_a", "only_in_b", "dtype", "shape",
// "equal", "within_tolerance", "differs".
std::string ResultOf(const TensorDifference& tensor, double tolerance);

// Returns tables of the settings and tensors that differ, and a summary line. With `all_tensors`,
// lists equal tensors too.
std::string DiffText(const CheckpointDiff& diff, const DiffOptions& options, bool all_tensors);

// Returns the comparison as JSON. All keys are always present. A value that does not apply or is
// infinite is null.
nlohmann::json DiffJson(const CheckpointDiff& diff, const DiffOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_REPORT_H_
