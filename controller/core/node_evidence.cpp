#include "controller/core/node_evidence.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "controller/core/failure_policy.h"
#include "controller/core/text.h"

namespace trainyard::controller {
namespace {

// Everything that a judgement reads.
struct Scene {
  const ClusterState& state;
  const Observations& observations;
  const CoreOptions& options;
  Timestamp now;
};

double Percentile99(const std::deque<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted[(sorted.size() - 1) * 99 / 100];
}

// How long a healthy rank of this attempt may stand still: a few steps while it trains. Nothing is
// known while it loads, saves or evaluates, or before a step was measured.
std::optional<int64_t> LongestPauseMs(const Scene& scene, const AttemptObservation& attempt,
                                      const RankObservation& rank) {
  if (!IsTraining(rank) || attempt.step_seconds.empty()) return std::nullopt;
  const double steps_ms = 3 * 1000 * Percentile99(attempt.step_seconds);
  return std::max(scene.options.lost_after_ms, static_cast<int64_t>(steps_ms));
}

bool IsHeard(const Scene& scene, const std::string& node_id) {
  return scene.now - LastHeard(scene.observations, node_id) < scene.options.suspect_after_ms;
}

// What one rank says; nothing when it is no witness.
std::optional<Testimony> AskRank(const Scene& scene, const AttemptObservation& attempt, int rank,
                                 Timestamp silent_since_ms) {
  const auto found = attempt.ranks.find(rank);
  if (found == attempt.ranks.end()) return std::nullopt;
  const RankObservation& observed = found->second;
  if (!observed.running) return std::nullopt;
  const auto pause_ms = LongestPauseMs(scene, attempt, observed);
  if (!pause_ms.has_value()) return std::nullopt;
  const Timestamp moved_ms = observed.last_progress_ms;
  if (scene.now - moved_ms < *pause_ms) return Testimony::kMoving;
  // Only a rank that had moved steadily until the node fell silent shows by its standing still that
  // something is wrong.
  const bool was_steady = SteadyMs(observed) >= *pause_ms;
  const bool moved_until_then = moved_ms >= silent_since_ms - *pause_ms;
  if (!was_steady || !moved_until_then) return std::nullopt;
  return Testimony::kStalled;
}

// A rank has ended well or reached the last step: there is nothing more to train, so that standing
// still is no sign of trouble.
bool IsFinishing(const JobEntry& entry, const AttemptObservation& attempt) {
  const auto ended_well = [](const auto& exited) { return !IsFailure(exited.second); };
  if (std::ranges::any_of(entry.exited_ranks, ended_well)) return true;
  return attempt.total_steps > 0 && std::ranges::any_of(attempt.ranks, [&](const auto& rank) {
           return rank.second.step >= attempt.total_steps;
         });
}

Testimony TestifyIn(const Scene& scene, const JobEntry& entry, const std::string& node_id) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const auto observed = scene.observations.attempts.find({entry.job.id(), attempt.epoch()});
  if (observed == scene.observations.attempts.end()) return Testimony::kUnwitnessed;
  const Timestamp silent_since_ms = LastHeard(scene.observations, node_id);
  const bool finishing = IsFinishing(entry, observed->second);
  Testimony testimony = Testimony::kUnwitnessed;
  for (const v1::RankPlacement& rank : attempt.ranks()) {
    const bool runs =
        entry.started_ranks.contains(rank.rank()) && !entry.exited_ranks.contains(rank.rank());
    if (!runs || !IsHeard(scene, rank.node_id())) continue;
    const auto said = AskRank(scene, observed->second, rank.rank(), silent_since_ms);
    if (said == Testimony::kMoving) return Testimony::kMoving;
    if (said == Testimony::kStalled && !finishing) testimony = Testimony::kStalled;
  }
  return testimony;
}

// True when a rank of the attempt runs on the node, or may run there, and nobody has told it to
// leave.
bool IsAtStake(const JobEntry& entry, const std::string& node_id) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (attempt.state() == v1::ATTEMPT_STATE_STOPPING) return false;
  return std::ranges::any_of(attempt.ranks(), [&](const v1::RankPlacement& rank) {
    return rank.node_id() == node_id && !entry.exited_ranks.contains(rank.rank());
  });
}

// The evidence that an attempt has lost what it had on the silent node, as one line; empty while
// there is not enough.
std::string EvidenceOfLoss(const Scene& scene, const JobEntry& entry, const std::string& node_id,
                           int64_t silence_ms) {
  const std::string silent = absl::StrCat("silent for ", DurationText(silence_ms));
  switch (TestifyIn(scene, entry, node_id)) {
    case Testimony::kMoving:
      return "";
    case Testimony::kStalled:
      return absl::StrCat(silent, ", and its peers in ", JobText(entry.job), " stand still");
    case Testimony::kUnwitnessed:
      if (silence_ms < scene.options.lease_ms) return "";
      return absl::StrCat(silent, ", longer than its lease, and no rank could show progress");
  }
  return "";
}

// Why a silent node is lost; empty while something healthy may be at stake on it.
std::string EvidenceOfDeath(const Scene& scene, const NodeEntry& node, int64_t silence_ms) {
  const std::string& node_id = node.node.id();
  std::string why = ", and no healthy attempt runs on it";
  for (const int64_t job_id : node.live_jobs) {
    const JobEntry& entry = scene.state.jobs.at(job_id);
    if (IsAtStake(entry, node_id)) return "";
    const v1::Verdict& verdict = LiveAttempt(entry)->verdict();
    const bool lost_it =
        verdict.cause() == v1::VERDICT_CAUSE_NODE_LOST && verdict.node_id() == node_id;
    if (lost_it) why = absl::StrCat(", and ", JobText(entry.job), " has lost its ranks there");
  }
  return absl::StrCat("silent for ", DurationText(silence_ms), why);
}

v1::Event NodeEvent(Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor("controller");
  return event;
}

void JudgeNode(const Scene& scene, const NodeEntry& entry, Timestamp heard_ms,
               std::vector<v1::Event>& events) {
  const v1::Node& node = entry.node;
  const int64_t silence_ms = scene.now - heard_ms;
  if (silence_ms < scene.options.suspect_after_ms) {
    // A node that this controller has not heard itself yet has not returned.
    if (node.state() == v1::NODE_STATE_READY || heard_ms == scene.observations.since_ms) return;
    events.push_back(NodeEvent(scene.now));
    events.back().mutable_node_returned()->set_node_id(node.id());
    return;
  }
  if (node.state() == v1::NODE_STATE_LOST) return;
  if (node.state() == v1::NODE_STATE_READY) {
    events.push_back(NodeEvent(scene.now));
    v1::NodeSuspected& suspected = *events.back().mutable_node_suspected();
    suspected.set_node_id(node.id());
    suspected.set_last_heard_ms(heard_ms);
  }
  if (silence_ms < scene.options.lost_after_ms) return;
  const std::string evidence = EvidenceOfDeath(scene, entry, silence_ms);
  if (evidence.empty()) return;
  events.push_back(NodeEvent(scene.now));
  v1::NodeLost& lost = *events.back().mutable_node_lost();
  lost.set_node_id(node.id());
  lost.set_reason(evidence);
}

// Calls visit(entry, time when it was last heard) for each node.
template <typename Visit>
void ForEachNode(const ClusterState& state, const Observations& observations, const Visit& visit) {
  // Both maps are sorted by node id: one walk over both is much cheaper than a look-up for each.
  auto observed = observations.nodes.begin();
  for (const auto& [id, entry] : state.nodes) {
    while (observed != observations.nodes.end() && observed->first < id) ++observed;
    Timestamp heard_ms = observations.since_ms;
    if (observed != observations.nodes.end() && observed->first == id) {
      heard_ms = std::max(heard_ms, observed->second.last_heard_ms);
    }
    visit(entry, heard_ms);
  }
}

}  // namespace

Testimony Testify(const ClusterState& state, const Observations& observations,
                  const CoreOptions& options, const JobEntry& entry, const std::string& node_id,
                  Timestamp now) {
  return TestifyIn({state, observations, options, now}, entry, node_id);
}

SilentNodes FindSilentNodes(const ClusterState& state, const Observations& observations,
                            const CoreOptions& options, Timestamp now) {
  SilentNodes silent;
  ForEachNode(state, observations, [&](const NodeEntry& entry, Timestamp heard_ms) {
    if (now - heard_ms >= options.lost_after_ms) silent[entry.node.id()] = now - heard_ms;
  });
  return silent;
}

std::map<int64_t, v1::Verdict> VerdictsOnSilence(const ClusterState& state,
                                                 const Observations& observations,
                                                 const CoreOptions& options,
                                                 const SilentNodes& silent, Timestamp now) {
  const Scene scene{state, observations, options, now};
  std::map<int64_t, v1::Verdict> verdicts;
  for (const auto& [node_id, silence_ms] : silent) {
    const NodeEntry& node = state.nodes.at(node_id);
    for (const int64_t job_id : node.live_jobs) {
      const JobEntry& entry = state.jobs.at(job_id);
      if (verdicts.contains(job_id) || !IsAtStake(entry, node_id)) continue;
      const std::string evidence = EvidenceOfLoss(scene, entry, node_id, silence_ms);
      if (!evidence.empty()) verdicts[job_id] = NodeLostVerdict(node.node, evidence, now);
    }
  }
  return verdicts;
}

std::vector<v1::Event> NodeEventsDue(const ClusterState& state, const Observations& observations,
                                     const CoreOptions& options, Timestamp now) {
  const Scene scene{state, observations, options, now};
  std::vector<v1::Event> events;
  ForEachNode(state, observations, [&](const NodeEntry& entry, Timestamp heard_ms) {
    JudgeNode(scene, entry, heard_ms, events);
  });
  return events;
}

}  // namespace trainyard::controller
