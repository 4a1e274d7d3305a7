#include "controller/core/health/straggler_watch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/controller_event.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/rank_position.h"

namespace trainyard::controller {
namespace {

// The minimum seconds by which a slow rank exceeds the median. In a step of a real model, a smaller
// excess does not matter.
constexpr double kLeastExcessSeconds = 0.005;
constexpr std::size_t kFewestCompared = 3;

struct Measured {
  int rank = 0;
  double seconds = 0;
};

const v1::LayoutSpec& LayoutOf(const JobEntry& entry, const v1::Attempt& attempt) {
  return attempt.has_layout() ? attempt.layout().layout() : entry.job.spec().layout();
}

// Pipeline stages do different work, so only ranks of one stage are compared.
std::map<int, std::vector<Measured>> MeasuredByStage(const AttemptObservation& observed,
                                                     const v1::LayoutSpec& layout) {
  std::map<int, std::vector<Measured>> stages;
  for (const auto& [number, rank] : observed.ranks) {
    const std::optional<double> seconds = rank.compute.Median();
    if (!rank.running || !seconds.has_value()) continue;
    stages[RankPositionOf(number, layout).pp].push_back({number, *seconds});
  }
  return stages;
}

double MedianOf(std::vector<Measured> ranks) {
  const auto middle = ranks.begin() + static_cast<std::ptrdiff_t>(ranks.size() / 2);
  std::ranges::nth_element(ranks, middle, {}, &Measured::seconds);
  return middle->seconds;
}

// Returns the time of the first evidence that a rank of this attempt is slow on the node. Returns 0
// if there is none.
Timestamp ReportedMs(const ClusterState& state, const std::string& node_id, const AttemptKey& key) {
  const auto node = state.nodes.find(node_id);
  if (node == state.nodes.end()) return 0;
  for (const v1::NodeEvidence& evidence : node->second.node.evidence()) {
    const bool is_same = evidence.job_id() == key.job_id && evidence.attempt() == key.number;
    if (is_same && evidence.fault() == v1::NODE_FAULT_SLOW) return evidence.time_ms();
  }
  return 0;
}

std::string TimesText(const Straggler& straggler) {
  return absl::StrFormat(
      "computes for %.3g s per step, %.1f times the median of its %d peer ranks (%.3g s)",
      straggler.seconds, straggler.seconds / straggler.median_seconds, straggler.compared,
      straggler.median_seconds);
}

}  // namespace

std::vector<Straggler> FindStragglers(const Observations& observations, const JobEntry& entry) {
  const v1::Attempt* attempt = LiveAttempt(entry);
  const double ratio = entry.job.spec().watchdog().slow_rank_ratio();
  if (entry.job.state() != v1::JOB_STATE_RUNNING || attempt == nullptr || ratio <= 0) return {};
  const auto observed = observations.attempts.find({entry.job.id(), attempt->number()});
  if (observed == observations.attempts.end() || !observed->second.measures_compute) return {};
  std::vector<Straggler> found;
  for (const auto& [stage, ranks] : MeasuredByStage(observed->second, LayoutOf(entry, *attempt))) {
    if (ranks.size() < kFewestCompared) continue;
    const double median = MedianOf(ranks);
    for (const Measured& rank : ranks) {
      const bool is_slow = rank.seconds > ratio * median &&
                           rank.seconds - median >= kLeastExcessSeconds && median > 0;
      if (!is_slow) continue;
      found.push_back({rank.rank, rank.seconds, median, static_cast<int>(ranks.size())});
    }
  }
  std::ranges::sort(found, {}, &Straggler::rank);
  return found;
}

std::vector<v1::Event> StragglerEvents(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry, Timestamp now) {
  std::vector<v1::Event> events;
  for (const Straggler& straggler : FindStragglers(observations, entry)) {
    if (entry.slow_ranks.contains(straggler.rank)) continue;
    const v1::Attempt& attempt = *LiveAttempt(entry);
    const std::string& node_id = MemberAt(attempt, straggler.rank).node_id();
    const std::string evidence = absl::StrCat("rank ", straggler.rank, " on ",
                                              NodeName(state, node_id), " ", TimesText(straggler));
    v1::AlertRaised& alert = *events.emplace_back(ControllerEvent(now)).mutable_alert_raised();
    alert.set_job_id(entry.job.id());
    alert.set_attempt(attempt.number());
    const auto observed = observations.attempts.find({entry.job.id(), attempt.number()});
    alert.set_step(LastStep(observed->second));
    alert.set_code(telemetry::kSlowRank);
    alert.set_message(evidence);
    alert.set_by_watchdog(true);
    v1::NodeBlamed& blamed = *events.emplace_back(ControllerEvent(now)).mutable_node_blamed();
    blamed.set_node_id(node_id);
    blamed.mutable_evidence()->set_time_ms(now);
    blamed.mutable_evidence()->set_fault(v1::NODE_FAULT_SLOW);
    blamed.mutable_evidence()->set_job_id(entry.job.id());
    blamed.mutable_evidence()->set_attempt(attempt.number());
    blamed.mutable_evidence()->set_rank(straggler.rank);
    blamed.mutable_evidence()->set_reason(evidence);
  }
  return events;
}

std::optional<v1::HealthFinding> WhySlowRank(const ClusterState& state,
                                             const Observations& observations,
                                             const JobEntry& entry) {
  const std::vector<Straggler> stragglers = FindStragglers(observations, entry);
  if (stragglers.empty()) return std::nullopt;
  const Straggler& slowest = *std::ranges::max_element(
      stragglers, {},
      [](const Straggler& straggler) { return straggler.seconds / straggler.median_seconds; });
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const std::string& node_id = MemberAt(attempt, slowest.rank).node_id();
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_SLOW);
  finding.set_since_ms(ReportedMs(state, node_id, {entry.job.id(), attempt.number()}));
  for (const Straggler& straggler : stragglers) finding.add_ranks(straggler.rank);
  std::swap(*finding.mutable_ranks()->begin(),
            *std::ranges::find(*finding.mutable_ranks(), slowest.rank));
  // The message does not contain the seconds, because with the seconds the finding would change
  // with each update.
  finding.set_message(absl::StrFormat(
      "rank %d computes %.1f times as long as its %d peer ranks and holds up every step",
      slowest.rank, slowest.seconds / slowest.median_seconds, slowest.compared));
  finding.set_advice(absl::StrCat("`trainyard node cordon ", NodeName(state, node_id),
                                  "` keeps the next attempt off the rank's node"));
  return finding;
}

}  // namespace trainyard::controller
