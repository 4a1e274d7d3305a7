// Checks of a run of a few steps. Pure functions of settings and measurements.
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

// State of a checkpoint, as seen by the checking command.
enum class SavedState {
  kAbsent,
  kReadable,
  kDamaged,
  kNotSeen,  // Published, but the command's machine cannot see the directory.
};

struct SmokeFacts {
  RunConfig config;
  std::string end;             // Why and how the run ended early; empty if it ended well.
  std::vector<double> losses;  // Losses of all steps.
  double grad_norm = 0;        // Norm in the last step.
  double tokens_per_second = 0;
  double mfu = 0;
  StepWaits waits;
  double memory_bytes = 0;                 // Peak of tensors on the reporting rank; 0: none.
  double predicted_bytes = 0;              // Predicted memory_bytes; 0 without a prediction.
  double predicted_tokens_per_second = 0;  // 0 without a prediction.
  double device_bytes = 0;                 // Memory of the device; 0 if unknown.
  SavedState checkpoint = SavedState::kAbsent;
  std::string checkpoint_text;  // Directory or defect of the checkpoint.
};

// `findings` is empty if all is well; otherwise it states the problem, the reason and the fix.
struct SmokeCheck {
  std::string name;
  std::string found;  // One line.
  bool ok = true;
  std::vector<Finding> findings;
};

// In the order of a run's life. Checks without the necessary facts are omitted.
std::vector<SmokeCheck> CheckSmoke(const SmokeFacts& facts);

// Range of the loss of a first step with random weights: ln(vocabulary), plus the effect of the
// logits' variance.
struct LossBounds {
  double low = 0;
  double high = 0;
};
LossBounds FirstLossBounds(const ModelConfig& model);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_SMOKE_CHECKS_H_
