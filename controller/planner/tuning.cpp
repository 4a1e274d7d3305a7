#include "controller/planner/tuning.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "controller/planner/layout_candidates.h"
#include "controller/planner/layout_search.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/run_rules.h"

namespace trainyard::planner {
namespace {

int64_t ShareOf(const RunConfig& config) {
  return config.train.global_batch / std::max<int64_t>(config.layout.dp, 1);
}

// Checks only the training rules, because the swept settings cannot violate the rules for data and
// schedule.
bool KeepsRules(const RunConfig& config) { return FindTrainingProblems(config).empty(); }

class Sweep {
 public:
  Sweep(const RunConfig& config, const Cluster& cluster) : config_(config), cluster_(cluster) {
    fitting_.push_back(Predicted(config.layout, TuneReason::kOwn));
    for (const int64_t micro_batch : DivisorsOf(ShareOf(config))) VisitMicroBatch(micro_batch);
    std::stable_sort(fitting_.begin() + 1, fitting_.end(), IsFaster);
  }

  TunePlan Choose(int64_t most) {
    TunePlan plan;
    plan.considered = static_cast<int64_t>(fitting_.size() + too_large_.size());
    plan.candidates.push_back(fitting_.front());
    const std::optional<TuneCandidate> beyond = BeyondMemory();
    const size_t room = static_cast<size_t>(most) - (beyond.has_value() ? 1 : 0);
    AddFastest(room, plan.candidates);
    std::stable_sort(plan.candidates.begin() + 1, plan.candidates.end(), IsFaster);
    if (beyond.has_value()) plan.candidates.push_back(*beyond);
    plan.too_large = static_cast<int64_t>(too_large_.size()) - (beyond.has_value() ? 1 : 0);
    return plan;
  }

 private:
  static bool IsFaster(const TuneCandidate& a, const TuneCandidate& b) {
    return a.predicted.Total() < b.predicted.Total();
  }

  TuneCandidate Predicted(const LayoutConfig& layout, TuneReason reason) const {
    RunConfig config = config_;
    config.layout = layout;
    int64_t stage = 0;
    TuneCandidate candidate;
    candidate.reason = reason;
    candidate.layout = layout;
    candidate.attention = config_.train.attention_backend;
    candidate.memory = PeakMemory(config, stage);
    // SecondsOfStep does not support ZeRO sharding over a part of the data-parallel ranks.
    config.layout.zero_size = 0;
    candidate.predicted = PredictStep(config, cluster_);
    return candidate;
  }

  void VisitMicroBatch(int64_t micro_batch) {
    RunConfig config = config_;
    config.layout.micro_batch = micro_batch;
    for (const LayoutConfig& member : MembersOfGroup(config)) {
      if (member == config_.layout) continue;
      config.layout = member;
      if (!KeepsRules(config)) continue;
      const TuneCandidate candidate = Predicted(member, TuneReason::kPredicted);
      (FitsInto(candidate.memory, *cluster_.device) ? fitting_ : too_large_).push_back(candidate);
    }
  }

  // Adds the fastest candidate. Then repeatedly adds, for each setting in turn, the fastest
  // candidate with a value of this setting that no chosen candidate has.
  void AddFastest(size_t room, std::vector<TuneCandidate>& chosen) const {
    const std::vector<std::function<int64_t(const LayoutConfig&)>> settings = {
        [](const LayoutConfig& layout) { return layout.micro_batch; },
        [](const LayoutConfig& layout) { return static_cast<int64_t>(layout.recompute); },
        [](const LayoutConfig& layout) { return layout.zero; }};
    if (fitting_.size() > 1 && chosen.size() < room) chosen.push_back(fitting_[1]);
    for (bool found = true; found;) {
      found = false;
      for (const auto& setting : settings) {
        const auto is_new = [&](const TuneCandidate& candidate) {
          return std::none_of(chosen.begin(), chosen.end(), [&](const TuneCandidate& other) {
            return setting(other.layout) == setting(candidate.layout);
          });
        };
        const auto next = std::find_if(fitting_.begin() + 1, fitting_.end(), is_new);
        if (next == fitting_.end()) continue;
        if (chosen.size() >= room) return;
        chosen.push_back(*next);
        found = true;
      }
    }
  }

  // Returns the smallest micro-batch that is predicted not to fit, with the recomputation and
  // sharding of the fastest candidate.
  std::optional<TuneCandidate> BeyondMemory() const {
    const LayoutConfig& fastest =
        fitting_.size() > 1 ? fitting_[1].layout : fitting_.front().layout;
    for (const TuneCandidate& candidate : too_large_) {
      const bool is_beside =
          candidate.layout.recompute == fastest.recompute && candidate.layout.zero == fastest.zero;
      if (!is_beside) continue;
      TuneCandidate beyond = candidate;
      beyond.reason = TuneReason::kBeyondMemory;
      return beyond;
    }
    return std::nullopt;
  }

  const RunConfig& config_;
  const Cluster& cluster_;
  std::vector<TuneCandidate> fitting_;    // The first has the current settings.
  std::vector<TuneCandidate> too_large_;  // By ascending micro-batch.
};

std::string_view NameOf(Recompute recompute) {
  for (const auto& [name, value] : SettingNames<Recompute>::kNames) {
    if (value == recompute) return name;
  }
  return "";
}

}  // namespace

TunePlan PlanTuning(const RunConfig& config, const Cluster& cluster, int64_t most) {
  return Sweep(config, cluster).Choose(most);
}

std::vector<TuneCandidate> OtherAttention(const RunConfig& config, const TuneCandidate& fastest) {
  const RunConfig chosen = WithCandidate(config, fastest);
  std::vector<TuneCandidate> others;
  for (const AttentionBackend backend : {AttentionBackend::kCudnn, AttentionBackend::kFlash,
                                         AttentionBackend::kSdpa, AttentionBackend::kManual}) {
    if (backend == AttentionBackendOf(chosen)) continue;
    RunConfig other = chosen;
    other.train.attention_backend = backend;
    if (!FindAttentionProblems(other).empty()) continue;
    TuneCandidate candidate = fastest;
    candidate.reason = TuneReason::kAttention;
    candidate.attention = backend;
    others.push_back(candidate);
  }
  return others;
}

TunePlan PlanUnattended(const RunConfig& config, const Cluster& cluster, int64_t most) {
  TunePlan plan = PlanTuning(config, cluster, most);
  const TuneCandidate* fastest = nullptr;
  for (const TuneCandidate& candidate : plan.candidates) {
    if (!FitsInto(candidate.memory, *cluster.device)) continue;
    const bool is_faster =
        fastest == nullptr || candidate.predicted.Total() < fastest->predicted.Total();
    if (is_faster) fastest = &candidate;
  }
  if (fastest == nullptr) return plan;
  const std::vector<TuneCandidate> others = OtherAttention(config, *fastest);
  plan.candidates.insert(plan.candidates.end(), others.begin(), others.end());
  return plan;
}

RunConfig WithCandidate(RunConfig config, const TuneCandidate& candidate) {
  config.layout = candidate.layout;
  config.train.attention_backend = candidate.attention;
  return config;
}

std::vector<std::pair<std::string, std::string>> SettingsOf(const TuneCandidate& candidate) {
  const LayoutConfig& layout = candidate.layout;
  return {{"micro_batch", std::to_string(layout.micro_batch)},
          {"recompute", std::string(NameOf(layout.recompute))},
          {"zero", std::to_string(layout.zero)}};
}

std::string CandidateText(const RunConfig& config, const TuneCandidate& candidate) {
  const LayoutConfig& layout = candidate.layout;
  std::string text = "micro_batch " + std::to_string(layout.micro_batch) + " x " +
                     std::to_string(ShareOf(config) / layout.micro_batch) + ", recompute " +
                     std::string(NameOf(layout.recompute));
  if (layout.dp * layout.cp > 1) text += ", zero " + std::to_string(layout.zero);
  return text + ", attention " +
         std::string(trainyard::NameOf(AttentionBackendOf(WithCandidate(config, candidate))));
}

std::optional<size_t> ChooseResult(const std::vector<TuneResult>& results) {
  std::optional<size_t> fastest;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_faster =
        !fastest.has_value() || results[i].tokens_per_second > results[*fastest].tokens_per_second;
    if (results[i].Ran() && is_faster) fastest = i;
  }
  if (!fastest.has_value()) return std::nullopt;
  const double enough = results[*fastest].tokens_per_second * (1 - kEquallyFast);
  size_t chosen = *fastest;
  for (size_t i = 0; i < results.size(); ++i) {
    const TuneResult& result = results[i];
    const bool is_as_fast = result.Ran() && result.tokens_per_second >= enough;
    const bool is_smaller =
        result.memory_bytes > 0 && result.memory_bytes < results[chosen].memory_bytes;
    if (is_as_fast && is_smaller) chosen = i;
  }
  return chosen;
}

MemoryLimit FindMemoryLimit(const std::vector<TuneResult>& results) {
  MemoryLimit limit;
  for (const TuneResult& result : results) {
    if (result.Ran()) {
      const bool is_larger =
          limit.largest == nullptr || result.memory_bytes > limit.largest->memory_bytes;
      if (result.memory_bytes > 0 && is_larger) limit.largest = &result;
    } else if (result.out_of_memory) {
      const bool is_smaller =
          limit.smallest_failed == nullptr ||
          result.candidate.memory.Total() < limit.smallest_failed->candidate.memory.Total();
      if (is_smaller) limit.smallest_failed = &result;
    }
  }
  return limit;
}

}  // namespace trainyard::planner
