#include "controller/core/health/start_evidence.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "proto/contract/phase.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Returns true if the node reported the start or the exit of one of the attempt's ranks.
bool HasFacts(const JobEntry& entry, const v1::Attempt& attempt, const std::string& node_id) {
  return std::ranges::any_of(attempt.ranks(), [&](const v1::RankPlacement& rank) {
    return rank.node_id() == node_id &&
           (entry.started_ranks.contains(rank.rank()) || entry.exited_ranks.contains(rank.rank()));
  });
}

// Returns true if the node reported the attempt or may have reported it to an earlier controller
// process.
bool MayHaveStarted(const Observations& observations, const JobEntry& entry,
                    const v1::Attempt& attempt, const std::string& node_id) {
  if (HasFacts(entry, attempt, node_id)) return true;
  if (attempt.placed_time_ms() < observations.since_ms) return true;
  const auto node = observations.nodes.find(node_id);
  return node != observations.nodes.end() &&
         node->second.reports.contains({entry.job.id(), attempt.number()});
}

// Returns true if the node cannot have the attempt. Its stream must be closed, and its worker must
// not have reported the attempt. In addition, either the worker left on request, or this controller
// process sent the worker a Welcome but never the start.
bool WentWithout(const Observations& observations, const JobEntry& entry,
                 const v1::Attempt& attempt, const std::string& node_id) {
  const auto found = observations.nodes.find(node_id);
  if (found == observations.nodes.end() || HasFacts(entry, attempt, node_id)) return false;
  const NodeObservation& node = found->second;
  const AttemptKey key{entry.job.id(), attempt.number()};
  if (node.attached || node.reports.contains(key)) return false;
  return HasLeft(node) || (node.welcomed && !node.starts_sent.contains(key));
}

// Returns the longest time that the node's peers may spend in init and load without progress.
int64_t StartLimitMs(const CoreOptions& options, const JobEntry& entry,
                     const v1::Attempt& attempt) {
  const bool all_started = CountSeated(attempt, entry.started_ranks) == GangSize(attempt);
  const auto longest_ms = LongestStartMs(entry.job);
  if (!all_started || !longest_ms.has_value()) return options.start_lease_ms;
  return std::max(options.shortest_start_limit_ms, 3 * *longest_ms);
}

// The peers of a starting gang whose progress can be observed, and the time of their newest
// progress.
struct WaitingPeers {
  int count = 0;
  Timestamp since_ms = 0;
};

// Returns nullopt if a peer is already past the start phases.
std::optional<WaitingPeers> FindWaitingPeers(const Observations& observations,
                                             const CoreOptions& options, const v1::Attempt& attempt,
                                             const AttemptObservation& observed, Timestamp now) {
  WaitingPeers peers;
  for (const v1::RankPlacement& placement : attempt.ranks()) {
    const auto rank = observed.ranks.find(PlaceOf(placement));
    if (rank == observed.ranks.end() || !rank->second.running) continue;
    if (!HasSettledReports(observations, options, placement.node_id(), now)) continue;
    if (!IsStarting(rank->second)) return std::nullopt;
    ++peers.count;
    // A rank that writes output while it loads is alive, regardless of the length of the phase.
    peers.since_ms = std::max(peers.since_ms, rank->second.quiet_since_ms);
  }
  return peers;
}

// Returns true if a rank has trained. In that case all ranks had started.
bool IsPastStart(const AttemptObservation& observed) {
  return !observed.step_times.empty() || std::ranges::any_of(observed.ranks, [](const auto& rank) {
    return !rank.second.phase.empty() && !IsStarting(rank.second);
  });
}

// Returns the time of the newest progress of any rank. Returns 0 if there is none.
Timestamp LastProgress(const AttemptObservation& observed) {
  Timestamp newest_ms = 0;
  for (const auto& [number, rank] : observed.ranks) {
    newest_ms = std::max(newest_ms, rank.quiet_since_ms);
  }
  return newest_ms;
}

}  // namespace

bool HasSettledReports(const Observations& observations, const CoreOptions& options,
                       const std::string& node_id, Timestamp now) {
  const auto node = observations.nodes.find(node_id);
  if (node == observations.nodes.end()) return false;
  return now - node->second.last_report_ms < options.suspect_after_ms &&
         now - node->second.reports_since_ms >= options.suspect_after_ms;
}

std::optional<int64_t> LongestStartMs(const v1::Job& job) {
  std::optional<int64_t> longest_ms;
  // A start from a checkpoint takes longer than a fresh start, because such a start also reads the
  // checkpoint's data.
  const bool resumes = !job.attempts().empty() && job.attempts().rbegin()->resume_step() > 0;
  for (const v1::Attempt& attempt : job.attempts()) {
    if (resumes && attempt.resume_step() == 0) continue;
    const bool trained = attempt.last_step() > attempt.resume_step();
    const int64_t start_ms = attempt.time_use().init_ms() + attempt.time_use().load_ms();
    if (attempt.state() != v1::ATTEMPT_STATE_ENDED || !trained || start_ms == 0) continue;
    longest_ms = std::max(longest_ms.value_or(0), start_ms);
  }
  return longest_ms;
}

std::string EvidenceOfLostStart(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  static const AttemptObservation kNothing;
  const auto found = observations.attempts.find({entry.job.id(), attempt.number()});
  const AttemptObservation& observed =
      found == observations.attempts.end() ? kNothing : found->second;
  if (IsPastStart(observed)) return "";
  if (WentWithout(observations, entry, attempt, node_id)) {
    return absl::StrCat(", and the node disconnected before it was due to start ",
                        JobText(entry.job));
  }
  const Timestamp last_heartbeat_ms = LastHeartbeat(observations, node_id);
  if (!MayHaveStarted(observations, entry, attempt, node_id)) {
    // If the placement time is in the future, the clock was set back after the placement.
    const Timestamp placed_ms = attempt.placed_time_ms() > now ? 0 : attempt.placed_time_ms();
    const Timestamp since_ms = std::max({placed_ms, last_heartbeat_ms, LastProgress(observed)});
    if (now - since_ms < options.start_lease_ms) return "";
    return absl::StrCat(", and the node has not reported ", JobText(entry.job),
                        " since the job was placed");
  }
  const auto peers = FindWaitingPeers(observations, options, attempt, observed, now);
  if (!peers.has_value() || peers->count == 0) return "";
  const int64_t limit_ms = StartLimitMs(options, entry, attempt);
  // If the peers stalled long before the node's last heartbeat, they wait for something else.
  if (peers->since_ms < last_heartbeat_ms - limit_ms || now - peers->since_ms < limit_ms) return "";
  return absl::StrCat(", and the ranks of ", JobText(entry.job),
                      " on other nodes have been starting for ",
                      DurationText(now - peers->since_ms));
}

}  // namespace trainyard::controller
