// A short sweep of settings that change a run's speed and memory but not its result: which settings
// to measure, and what the measurements say. Pure functions.
//
// The sweep keeps the batch and how the model is divided (tp, cp, pp, vpp). It varies the
// micro-batch, and with it the accumulation, the recomputation, the sharding (ZeRO), and the code
// that computes attention.
#ifndef TRAINYARD_CONTROLLER_PLANNER_TUNING_H_
#define TRAINYARD_CONTROLLER_PLANNER_TUNING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/step_time.h"
#include "proto/contract/memory_model.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

enum class TuneReason {
  kOwn,           // The settings as they are.
  kPredicted,     // Predicted to be fast, or the fastest with one value of a setting.
  kBeyondMemory,  // Predicted not to fit: shows where the limit is.
  kAttention,     // The fastest measured setting with other attention.
};

struct TuneCandidate {
  TuneReason reason = TuneReason::kOwn;
  LayoutConfig layout;
  AttentionBackend attention = AttentionBackend::kAuto;
  StepTime predicted;
  MemoryPrediction memory;  // Of the rank that needs most.
};

struct TunePlan {
  std::vector<TuneCandidate> candidates;  // In the order to measure them.
  int64_t considered = 0;
  int64_t too_large = 0;  // Of these, predicted not to fit and not measured.
};

// At most `most` candidates, 2 or more: the settings as they are, the fastest predicted, the
// fastest with each value of each setting, and one that is predicted just not to fit. `config` is
// resolved and keeps the rules.
TunePlan PlanTuning(const RunConfig& config, const Cluster& cluster, int64_t most);

// `fastest` with each other code for attention that can compute it. Nothing is predicted of these:
// their times are those of `fastest`.
std::vector<TuneCandidate> OtherAttention(const RunConfig& config, const TuneCandidate& fastest);

// A sweep of which nothing is measured before all of it is known: PlanTuning's, then other
// attention of the candidate that is predicted to fit and to be the fastest.
TunePlan PlanUnattended(const RunConfig& config, const Cluster& cluster, int64_t most);

// The run with the candidate's settings.
RunConfig WithCandidate(RunConfig config, const TuneCandidate& candidate);

// Swept settings of the layout, by their keys in a job file's `layout`.
std::vector<std::pair<std::string, std::string>> SettingsOf(const TuneCandidate& candidate);

// "micro_batch 4 x 24, recompute none, zero 1, attention auto": with the number of micro-batches.
std::string CandidateText(const RunConfig& config, const TuneCandidate& candidate);

struct TuneResult {
  TuneCandidate candidate;
  std::string failure;  // Why there are no figures; empty where there are.
  bool out_of_memory = false;
  double step_seconds = 0;  // Median of the steps behind the first ones.
  double tokens_per_second = 0;
  double mfu = 0;           // 0: not known.
  double memory_bytes = 0;  // Of tensors, at the peak; 0: not known.
  StepTime measured;        // Parts of a step; all 0 where the run does not report them.

  bool Ran() const { return failure.empty(); }
};

// Of equally fast settings the one with the least memory is chosen.
inline constexpr double kEquallyFast = 0.01;

// Index of the result to choose; nullopt when none ran.
std::optional<size_t> ChooseResult(const std::vector<TuneResult>& results);

// Limit of the memory as the sweep shows it: the most that ran and the least that did not.
struct MemoryLimit {
  const TuneResult* largest = nullptr;
  const TuneResult* smallest_failed = nullptr;
};
MemoryLimit FindMemoryLimit(const std::vector<TuneResult>& results);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TUNING_H_
