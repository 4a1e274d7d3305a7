// Expectations of a run of a few steps: pure functions of settings and measurements.
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

// A checkpoint, as the command that checks it found it.
enum class SavedState {
  kAbsent,
  kReadable,
  kDamaged,
  kNotSeen,  // Published, in a directory that the machine of the command does not see.
};

struct SmokeFacts {
  RunConfig config;
  std::string end;  // Why the run ended too early, with the cause; empty when it ended well.
  std::vector<double> losses;  // Of each step, from the first on.
  double grad_norm = 0;        // Of the last step.
  double tokens_per_second = 0;
  double mfu = 0;
  StepWaits waits;
  double memory_bytes = 0;     // Of tensors at the peak, on the rank that reports; 0: none.
  double predicted_bytes = 0;  // The same, predicted; 0: nothing is predicted.
  double predicted_tokens_per_second = 0;  // 0: nothing is predicted.
  double device_bytes = 0;                 // Memory of the device; 0: not known.
  SavedState checkpoint = SavedState::kAbsent;
  std::string checkpoint_text;  // Its directory, or what is wrong with it.
};

// `findings` is empty where all is well; else it says what is wrong, why, and what to change.
struct SmokeCheck {
  std::string name;
  std::string found;  // One line.
  bool ok = true;
  std::vector<Finding> findings;
};

// In the order of a run's life. Checks that the facts cannot answer are left out.
std::vector<SmokeCheck> CheckSmoke(const SmokeFacts& facts);

// Losses of a first step with random weights lie between these: ln(vocabulary), and what the
// variance of the logits adds.
struct LossBounds {
  double low = 0;
  double high = 0;
};
LossBounds FirstLossBounds(const ModelConfig& model);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_SMOKE_CHECKS_H_
