// Reports of a checkpoint comparison, as text and as JSON.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_REPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "trainer/checkpoint_tools/commands/diff.h"

namespace trainyard::trainer {

// The first that applies of "only_in_a", "only_in_b", "dtype", "shape", "equal", "within_tolerance"
// and "differs".
std::string ResultOf(const TensorDifference& tensor, double tolerance);

// Tables of the differing settings and tensors (of all tensors with `all_tensors`), and a summary
// line.
std::string DiffText(const CheckpointDiff& diff, const DiffOptions& options, bool all_tensors);

// All keys are always present. Values that do not apply, and infinite values, are null.
nlohmann::json DiffJson(const CheckpointDiff& diff, const DiffOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_DIFF_REPORT_H_
