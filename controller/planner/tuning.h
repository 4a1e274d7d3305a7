// A short sweep of settings that affect a run's speed and memory but not its result: which settings
// to measure, and how to choose among the measurements. Pure functions.
//
// The sweep keeps the batch and the division of the model (tp, cp, pp, vpp). It varies the
// micro-batch with the accumulation, the recomputation, the sharding (ZeRO), and the attention
// code.
#ifndef TRAINYARD_CONTROLLER_PLANNER_TUNING_H_
#define TRAINYARD_CONTROLLER_PLANNER_TUNING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/step_time.h"
#include "proto/contract/run_config.h"
#include "proto/memory/memory_model.h"

namespace trainyard::planner {

enum class TuneReason {
  kOwn,           // The current settings.
  kPredicted,     // Predicted as the fastest, or as the fastest with one value of a setting.
  kBeyondMemory,  // Predicted not to fit, to show where the limit is.
  kAttention,     // The fastest measured setting, with other attention code.
};

struct TuneCandidate {
  TuneReason reason = TuneReason::kOwn;
  LayoutConfig layout;
  AttentionBackend attention = AttentionBackend::kAuto;
  StepTime predicted;
  MemoryPrediction memory;  // Memory of the rank that needs most.
};

struct TunePlan {
  std::vector<TuneCandidate> candidates;  // In measuring order.
  int64_t considered = 0;
  int64_t too_large = 0;  // Number of candidates predicted not to fit and not measured.
};

// At most `most` (2 or more) candidates: the current settings, the predicted fastest, the fastest
// with each value of each setting, and one predicted not to fit by a small margin. `config` must be
// resolved and keep the rules.
TunePlan PlanTuning(const RunConfig& config, const Cluster& cluster, int64_t most);

// `fastest` with each other attention code that supports it. Their predicted times are those of
// `fastest`.
std::vector<TuneCandidate> OtherAttention(const RunConfig& config, const TuneCandidate& fastest);

// A sweep that is fixed before anything is measured: the sweep of PlanTuning, plus other attention
// code for the predicted fastest candidate that fits.
TunePlan PlanUnattended(const RunConfig& config, const Cluster& cluster, int64_t most);

// The run with the candidate's settings.
RunConfig WithCandidate(RunConfig config, const TuneCandidate& candidate);

// Swept settings of the layout, by their keys in a job file's `layout`.
std::vector<std::pair<std::string, std::string>> SettingsOf(const TuneCandidate& candidate);

// Text such as "micro_batch 4 x 24, recompute none, zero 1, attention auto", with the number of
// micro-batches.
std::string CandidateText(const RunConfig& config, const TuneCandidate& candidate);

struct TuneResult {
  TuneCandidate candidate;
  std::string failure;  // Why there are no measurements; empty if there are.
  bool out_of_memory = false;
  double step_seconds = 0;  // Median step time, without the first steps.
  double tokens_per_second = 0;
  double mfu = 0;           // 0 if unknown.
  double memory_bytes = 0;  // Peak of tensors; 0 if unknown.
  StepTime measured;        // Parts of a step; all 0 if the run does not report them.

  bool Ran() const { return failure.empty(); }
};

// Relative difference in speed up to which settings count as equally fast. The planner chooses the
// one with the lowest memory among them.
inline constexpr double kEquallyFast = 0.01;

// Index of the result to choose; nullopt if none ran.
std::optional<size_t> ChooseResult(const std::vector<TuneResult>& results);

// Memory limit found by the sweep: the largest setting that ran, and the smallest one that did not.
struct MemoryLimit {
  const TuneResult* largest = nullptr;
  const TuneResult* smallest_failed = nullptr;
};
MemoryLimit FindMemoryLimit(const std::vector<TuneResult>& results);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TUNING_H_
