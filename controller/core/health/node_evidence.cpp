#include "controller/core/health/node_evidence.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "controller/core/health/phase_evidence.h"
#include "controller/core/health/start_evidence.h"
#include "controller/core/observations/stall.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/failure_policy.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/contract/phase.h"
#include "proto/support/job_kind.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// The arguments that the functions below share.
struct EvidenceContext {
  const ClusterState& state;
  const Observations& observations;
  const CoreOptions& options;
  Timestamp now;
};

bool HasRecentHeartbeat(const EvidenceContext& context, const std::string& node_id) {
  return context.now - LastHeartbeat(context.observations, node_id) <
         context.options.suspect_after_ms;
}

// True if the rank lost its connection to a peer and waits for a heal order.
bool AwaitsHeal(const RankObservation& rank) { return rank.phase == PhaseName(Phase::kHeal); }

// Returns true during the first lost_after_ms of a heal. During this time, the heal explains why
// ranks of the gang wait. Afterwards, only a node without a heartbeat can be delaying the heal.
bool HasBegunToHeal(const EvidenceContext& context, const v1::Attempt& attempt) {
  return IsHealing(attempt) &&
         context.now - attempt.heals().rbegin()->began_ms() < context.options.lost_after_ms;
}

// Returns the progress of one peer rank, as evidence about the judged node. Returns nullopt if the
// progress proves nothing. `last_heartbeat_ms` is the last heartbeat of the judged node, not of the
// rank's own node.
std::optional<PeerProgress> ProgressOfRank(const EvidenceContext& context,
                                           const AttemptObservation& attempt, int rank,
                                           Timestamp last_heartbeat_ms) {
  const auto found = attempt.ranks.find(rank);
  if (found == attempt.ranks.end()) return std::nullopt;
  const RankObservation& observed = found->second;
  if (!observed.running) return std::nullopt;
  if (AwaitsHeal(observed)) return PeerProgress::kStalled;
  if (!CanStall(attempt, observed)) return std::nullopt;
  // A stall is no evidence about a node until the stall has lasted for lost_after_ms, because a
  // node cannot be lost earlier.
  const int64_t pause_ms = std::max(context.options.lost_after_ms, LongestPauseMs(attempt));
  const Timestamp moved_ms = LastProgress(observed);
  if (context.now - moved_ms < pause_ms) return PeerProgress::kMoving;
  // A stall is evidence of trouble only if the rank made steady progress until the node's last
  // heartbeat.
  const bool was_steady = SteadyMs(observed) >= pause_ms;
  const bool moved_until_then = observed.moving_until_ms >= last_heartbeat_ms - pause_ms;
  if (!was_steady || !moved_until_then) return std::nullopt;
  return PeerProgress::kStalled;
}

// Returns the time without a heartbeat that is compared with the lease. A restart of the controller
// does not restart the lease: if the node was suspect before the restart and has not returned
// within return_within_ms, the time counts from the last heartbeat stored in the state.
int64_t LeaseAgeMs(const EvidenceContext& context, const v1::Node& node, int64_t heartbeat_age_ms) {
  const bool was_suspect_before =
      node.state() == v1::NODE_STATE_SUSPECT &&
      LastHeartbeat(context.observations, node.id()) == context.observations.since_ms;
  if (!was_suspect_before || heartbeat_age_ms < context.options.return_within_ms) {
    return heartbeat_age_ms;
  }
  return std::max(heartbeat_age_ms, context.now - node.last_heartbeat_ms());
}

// Returns true if a rank exited with 0 or reached the last step. Training is then over, so a lack
// of progress is no evidence of trouble.
bool IsFinishing(const JobEntry& entry, const AttemptObservation& attempt) {
  const auto ended_well = [&](const auto& exited) {
    return IsSeated(entry, exited.first) && !IsFailure(exited.second);
  };
  if (std::ranges::any_of(entry.exited_ranks, ended_well)) return true;
  // In a data job, the last step is only that of the current pass.
  if (!ProgramRulesOf(entry.job.spec()).has_equal_steps) return false;
  const int64_t total = TotalSteps(attempt, entry.job);
  return total > 0 && std::ranges::any_of(attempt.ranks, [&](const auto& rank) {
           return rank.second.step >= total;
         });
}

// Returns the time of the newest progress of the attempt's ranks on nodes with recent heartbeats.
// Returns 0 if there is none. The lease begins at this time or at the node's last heartbeat,
// whichever is later. In between, the gang may have saved or evaluated, and a lack of progress in
// these phases proves nothing.
Timestamp NewestMovement(const EvidenceContext& context, const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const auto observed = context.observations.attempts.find({entry.job.id(), attempt.number()});
  if (observed == context.observations.attempts.end()) return 0;
  Timestamp newest = 0;
  for (const v1::RankPlacement& rank : attempt.ranks()) {
    const auto found = observed->second.ranks.find(PlaceOf(rank));
    if (found == observed->second.ranks.end()) continue;
    if (!HasRecentHeartbeat(context, rank.node_id())) continue;
    newest = std::max(newest, found->second.moving_until_ms);
  }
  return newest;
}

// Returns true if a rank of the attempt runs or may run on the node and was not asked to stop.
bool IsAtStake(const JobEntry& entry, const std::string& node_id) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (attempt.state() == v1::ATTEMPT_STATE_STOPPING || GangSucceeded(entry)) return false;
  return HasUnexitedRank(entry, attempt, node_id);
}

// Returns true if the loss of the node does not end the attempt: rank 0 leads the gang, has its
// place on another node, and gives the blocks of lost ranks to the others. Before all ranks have
// started, rank 0 may still wait for the node.
bool ContinuesWithoutNode(const JobEntry& entry, const std::string& node_id) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  return FirstRankLeads(entry) && attempt.state() == v1::ATTEMPT_STATE_RUNNING &&
         MemberAt(attempt, 0).node_id() != node_id;
}

// Returns the evidence that an attempt has lost its ranks on a node without a heartbeat, as one
// line. Empty if the evidence is insufficient.
std::string EvidenceOfLoss(const EvidenceContext& context, const JobEntry& entry,
                           const v1::Node& node, int64_t heartbeat_age_ms) {
  const std::string& node_id = node.id();
  const int64_t lease_age_ms = LeaseAgeMs(context, node, heartbeat_age_ms);
  const std::string unresponsive =
      absl::StrCat("no heartbeat for ", DurationText(heartbeat_age_ms));
  switch (PeerProgressOf(context.state, context.observations, context.options, entry, node_id,
                         context.now)) {
    case PeerProgress::kMoving:
      return "";
    case PeerProgress::kStalled:
      return absl::StrCat(unresponsive, ", and the ranks of ", JobText(entry.job),
                          " on other nodes have stalled");
    case PeerProgress::kUnknown:
      if (const std::string lost = EvidenceOfLostStart(context.observations, context.options, entry,
                                                       node_id, context.now);
          !lost.empty()) {
        return unresponsive + lost;
      }
      if (const std::string lost = EvidenceOfLostPhase(context.observations, context.options, entry,
                                                       node_id, context.now);
          !lost.empty()) {
        return unresponsive + lost;
      }
      if (std::min(lease_age_ms, context.now - NewestMovement(context, entry)) <
          context.options.lease_ms) {
        return "";
      }
      return absl::StrCat("no heartbeat for ", DurationText(lease_age_ms),
                          ", which is longer than the node's lease, and no rank reported progress "
                          "within the lease");
  }
  return "";
}

// Returns the reason to declare a node without a heartbeat lost. Empty if a healthy attempt may
// still be running on the node.
std::string EvidenceOfDeath(const EvidenceContext& context, const NodeEntry& node,
                            int64_t heartbeat_age_ms) {
  const std::string& node_id = node.node.id();
  std::string why = ", and no healthy attempt runs on the node";
  for (const int64_t job_id : node.live_jobs) {
    const JobEntry& entry = context.state.jobs.at(job_id);
    if (IsAtStake(entry, node_id)) return "";
    const v1::Verdict& verdict = LiveAttempt(entry)->verdict();
    const bool lost_it =
        verdict.cause() == v1::VERDICT_CAUSE_NODE_LOST && verdict.node_id() == node_id;
    if (lost_it) {
      why = absl::StrCat(", and ", JobText(entry.job), " has lost its ranks on the node");
    }
  }
  return absl::StrCat("no heartbeat for ", DurationText(heartbeat_age_ms), why);
}

v1::Event NodeEvent(Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor("controller");
  return event;
}

// Appends the events that are due for one node. `heartbeat_ms` is the time that ForEachNode passes.
void JudgeNode(const EvidenceContext& context, const NodeEntry& entry, Timestamp heartbeat_ms,
               std::vector<v1::Event>& events) {
  const v1::Node& node = entry.node;
  const int64_t heartbeat_age_ms = context.now - heartbeat_ms;
  if (heartbeat_age_ms < context.options.suspect_after_ms) {
    // If heartbeat_ms is since_ms, this controller process has received no heartbeat from the node
    // yet, so the node has not returned.
    if (node.state() == v1::NODE_STATE_READY || heartbeat_ms == context.observations.since_ms)
      return;
    events.push_back(NodeEvent(context.now));
    events.back().mutable_node_returned()->set_node_id(node.id());
    return;
  }
  if (node.state() == v1::NODE_STATE_LOST) return;
  if (node.state() == v1::NODE_STATE_READY) {
    events.push_back(NodeEvent(context.now));
    v1::NodeSuspected& suspected = *events.back().mutable_node_suspected();
    suspected.set_node_id(node.id());
    suspected.set_last_heartbeat_ms(heartbeat_ms);
  }
  if (heartbeat_age_ms < context.options.lost_after_ms) return;
  const std::string evidence = EvidenceOfDeath(context, entry, heartbeat_age_ms);
  if (evidence.empty()) return;
  events.push_back(NodeEvent(context.now));
  v1::NodeLost& lost = *events.back().mutable_node_lost();
  lost.set_node_id(node.id());
  lost.set_reason(evidence);
}

// Calls visit(entry, time of the last heartbeat) for each node. If no heartbeat was received from
// the node, the time is since_ms, the controller's start.
template <typename Visit>
void ForEachNode(const ClusterState& state, const Observations& observations, const Visit& visit) {
  // Both maps are sorted by node id, and iterating over them in parallel is much cheaper than a
  // lookup per node.
  auto observed = observations.nodes.begin();
  for (const auto& [id, entry] : state.nodes) {
    while (observed != observations.nodes.end() && observed->first < id) ++observed;
    Timestamp heartbeat_ms = observations.since_ms;
    if (observed != observations.nodes.end() && observed->first == id) {
      heartbeat_ms = std::max(heartbeat_ms, observed->second.last_heartbeat_ms);
    }
    visit(entry, heartbeat_ms);
  }
}

}  // namespace

PeerProgress PeerProgressOf(const ClusterState& state, const Observations& observations,
                            const CoreOptions& options, const JobEntry& entry,
                            const std::string& node_id, Timestamp now) {
  const EvidenceContext context{state, observations, options, now};
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const auto observed = context.observations.attempts.find({entry.job.id(), attempt.number()});
  if (observed == context.observations.attempts.end()) return PeerProgress::kUnknown;
  const Timestamp last_heartbeat_ms = LastHeartbeat(context.observations, node_id);
  const bool finishing = IsFinishing(entry, observed->second);
  if (HasBegunToHeal(context, attempt)) return PeerProgress::kUnknown;
  PeerProgress progress = PeerProgress::kUnknown;
  for (const v1::RankPlacement& rank : attempt.ranks()) {
    const bool runs =
        entry.started_ranks.contains(rank.rank()) && !entry.exited_ranks.contains(rank.rank());
    if (!runs || !HasRecentHeartbeat(context, rank.node_id())) continue;
    const auto peer = ProgressOfRank(context, observed->second, PlaceOf(rank), last_heartbeat_ms);
    if (peer == PeerProgress::kMoving) return PeerProgress::kMoving;
    const bool is_proof =
        peer == PeerProgress::kStalled &&
        HasSettledReports(context.observations, context.options, rank.node_id(), context.now);
    if (is_proof && !finishing) progress = PeerProgress::kStalled;
  }
  return progress;
}

UnresponsiveNodes FindUnresponsiveNodes(const ClusterState& state, const Observations& observations,
                                        const CoreOptions& options, Timestamp now) {
  UnresponsiveNodes unresponsive;
  ForEachNode(state, observations, [&](const NodeEntry& entry, Timestamp heartbeat_ms) {
    if (now - heartbeat_ms >= options.lost_after_ms)
      unresponsive[entry.node.id()] = now - heartbeat_ms;
  });
  return unresponsive;
}

std::map<int64_t, v1::Verdict> VerdictsOnUnresponsiveNodes(const ClusterState& state,
                                                           const Observations& observations,
                                                           const CoreOptions& options,
                                                           const UnresponsiveNodes& unresponsive,
                                                           Timestamp now) {
  const EvidenceContext context{state, observations, options, now};
  std::map<int64_t, v1::Verdict> verdicts;
  for (const auto& [node_id, heartbeat_age_ms] : unresponsive) {
    const NodeEntry& node = state.nodes.at(node_id);
    for (const int64_t job_id : node.live_jobs) {
      const JobEntry& entry = state.jobs.at(job_id);
      // A job that lost ranks on several nodes gets only one verdict, about the node with the
      // lowest id.
      if (verdicts.contains(job_id) || !IsAtStake(entry, node_id)) continue;
      if (ContinuesWithoutNode(entry, node_id)) continue;
      const std::string evidence = EvidenceOfLoss(context, entry, node.node, heartbeat_age_ms);
      if (!evidence.empty()) verdicts[job_id] = NodeLostVerdict(node.node, evidence, now);
    }
  }
  return verdicts;
}

std::vector<v1::Event> NodeEventsDue(const ClusterState& state, const Observations& observations,
                                     const CoreOptions& options, Timestamp now) {
  const EvidenceContext context{state, observations, options, now};
  std::vector<v1::Event> events;
  ForEachNode(state, observations, [&](const NodeEntry& entry, Timestamp heartbeat_ms) {
    JudgeNode(context, entry, heartbeat_ms, events);
  });
  return events;
}

}  // namespace trainyard::controller
