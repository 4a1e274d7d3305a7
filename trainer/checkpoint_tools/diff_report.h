// A comparison of checkpoints as text for a person and as JSON.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_DIFF_REPORT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_DIFF_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "trainer/checkpoint_tools/diff.h"

namespace trainyard::trainer {

// "equal", "within_tolerance", "differs", "only_in_a", "only_in_b", "dtype" or "shape": the first
// that applies, with "dtype" before "shape".
std::string ResultOf(const TensorDifference& tensor, double tolerance);

// Tables of the settings and the tensors that differ (of every tensor with `all_tensors`), and a
// last line that sums up.
std::string DiffText(const CheckpointDiff& diff, const DiffOptions& options, bool all_tensors);

// Every key is always there; values that do not apply, and infinite ones, are null.
nlohmann::json DiffJson(const CheckpointDiff& diff, const DiffOptions& options);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_DIFF_REPORT_H_
