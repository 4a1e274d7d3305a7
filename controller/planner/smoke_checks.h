// Checks a run of a few steps. The functions depend only on settings and measurements.
#ifndef TRAINYARD_CONTROLLER_PLANNER_SMOKE_CHECKS_H_
#define TRAINYARD_CONTROLLER_PLANNER_SMOKE_CHECKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/finding.h"
#include "controller/planner/run_findings.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// The state of a checkpoint, as seen by the command that checks the run.
enum class SavedState {
  kAbsent,
  kReadable,
  kDamaged,
  kNotSeen,  // Published, but not visible on the machine that runs the check.
};

struct SmokeFacts {
  RunConfig config;
  std::string end;             // Why and how the run ended early. Empty if it ended normally.
  std::vector<double> losses;  // The losses of all steps.
  double grad_norm = 0;        // The gradient norm in the last step.
  double tokens_per_second = 0;
  double mfu = 0;
  StepWaits waits;
  double memory_bytes = 0;                 // Peak of tensors on the reporting rank. 0 if unknown.
  double predicted_bytes = 0;              // Predicted memory_bytes. 0 if not predicted.
  double predicted_tokens_per_second = 0;  // 0 without a prediction.
  double device_bytes = 0;                 // The memory of the device. 0 if unknown.
  SavedState checkpoint = SavedState::kAbsent;
  std::string checkpoint_text;  // The checkpoint's directory, or what is wrong with it.
};

// The result of one check. `findings` is empty if the check passes. Otherwise `findings` contains
// the problem, its reason and the fix.
struct SmokeCheck {
  std::string name;
  std::string found;  // One line.
  bool ok = true;
  std::vector<Finding> findings;
};

// Returns the checks in the order of a run's phases. Omits checks for which facts are missing.
std::vector<SmokeCheck> CheckSmoke(const SmokeFacts& facts);

// The range of the loss in the first step with random weights: ln(vocabulary) plus the effect of
// the logits' variance.
struct LossBounds {
  double low = 0;
  double high = 0;
};
LossBounds FirstLossBounds(const ModelConfig& model);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_SMOKE_CHECKS_H_
