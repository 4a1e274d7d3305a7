// Plans a short sweep over settings that affect a run's speed and memory but not its result. The
// functions select the settings to measure, and then choose among the measurements. No function has
// side effects.
//
// The sweep varies the micro-batch (and with it the accumulation), the recomputation, the sharding
// (ZeRO), and the attention backend. The sweep changes neither the batch nor the division of the
// model (tp, cp, pp, vpp).
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
  kPredicted,     // Predicted fastest, overall or for one value of a setting.
  kBeyondMemory,  // Predicted not to fit. Measured to find the limit.
  kAttention,     // The fastest measured setting with another attention backend.
};

struct TuneCandidate {
  TuneReason reason = TuneReason::kOwn;
  LayoutConfig layout;
  AttentionBackend attention = AttentionBackend::kAuto;
  StepTime predicted;
  MemoryPrediction memory;  // Memory of the rank that needs the most.
};

struct TunePlan {
  std::vector<TuneCandidate> candidates;  // In measuring order.
  int64_t considered = 0;
  int64_t too_large = 0;  // Candidates that are not measured because they should not fit.
};

// Returns at most `most` candidates (`most` is at least 2): the current settings, the predicted
// fastest candidate, the fastest candidate per value of each setting, and a candidate predicted to
// need slightly too much memory. `config` must be resolved and must satisfy the rules.
TunePlan PlanTuning(const RunConfig& config, const Cluster& cluster, int64_t most);

// Returns variants of `fastest`, one for each other attention backend that supports `fastest`. The
// variants have the predicted time of `fastest`.
std::vector<TuneCandidate> OtherAttention(const RunConfig& config, const TuneCandidate& fastest);

// Plans a whole sweep before anything is measured: the sweep of PlanTuning, plus variants of the
// predicted fastest candidate with other attention backends.
TunePlan PlanUnattended(const RunConfig& config, const Cluster& cluster, int64_t most);

// Returns the run with the candidate's settings.
RunConfig WithCandidate(RunConfig config, const TuneCandidate& candidate);

// Returns the swept settings as pairs of key and value. The keys are the keys of `layout` in a job
// file.
std::vector<std::pair<std::string, std::string>> SettingsOf(const TuneCandidate& candidate);

// Returns a text such as "micro_batch 4 x 24, recompute none, zero 1, attention auto". 24 is the
// number of micro-batches.
std::string CandidateText(const RunConfig& config, const TuneCandidate& candidate);

struct TuneResult {
  TuneCandidate candidate;
  std::string failure;  // Why there are no measurements; empty if there are.
  bool out_of_memory = false;
  double step_seconds = 0;  // Median over the steps except the first ones.
  double tokens_per_second = 0;
  double mfu = 0;           // 0 if unknown.
  double memory_bytes = 0;  // Peak memory of tensors; 0 if unknown.
  StepTime measured;        // Parts of a step; all 0 if the run does not report them.

  bool Ran() const { return failure.empty(); }
};

// Settings whose speeds differ by at most this fraction count as equally fast. The planner then
// chooses the settings with the lowest memory use.
inline constexpr double kEquallyFast = 0.01;

// Returns the index of the best result, or nullopt if no candidate ran.
std::optional<size_t> ChooseResult(const std::vector<TuneResult>& results);

// The memory limit found by the sweep: the largest setting that ran, and the smallest setting that
// did not fit.
struct MemoryLimit {
  const TuneResult* largest = nullptr;
  const TuneResult* smallest_failed = nullptr;
};
MemoryLimit FindMemoryLimit(const std::vector<TuneResult>& results);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TUNING_H_
