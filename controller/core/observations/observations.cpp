#include "controller/core/observations/observations.h"

#include <algorithm>

#include "proto/contract/phase.h"

namespace trainyard::controller {

bool IsTraining(const RankObservation& rank) {
  return rank.phase.empty() || rank.phase == PhaseName(Phase::kTrain) ||
         rank.phase == PhaseName(Phase::kBlocks);
}

bool IsStarting(const RankObservation& rank) {
  return rank.phase == PhaseName(Phase::kInit) || rank.phase == PhaseName(Phase::kLoad);
}

bool ReportsSteps(const RankObservation& rank) { return !rank.phase.empty() || rank.step > 0; }

Timestamp LastProgress(const RankObservation& rank) {
  return ReportsSteps(rank) ? rank.still_since_ms : rank.quiet_since_ms;
}

int64_t SteadyMs(const RankObservation& rank) {
  return rank.steady_before_ms + rank.moving_until_ms - rank.moving_since_ms;
}

std::optional<int64_t> LongestPhaseMs(const Observations& observations, int64_t job_id,
                                      const std::string& phase) {
  const auto job = observations.longest_phase_ms.find(job_id);
  if (job == observations.longest_phase_ms.end()) return std::nullopt;
  const auto longest = job->second.find(phase);
  if (longest == job->second.end()) return std::nullopt;
  return longest->second;
}

const AttemptObservation* ObservedAttempt(const Observations& observations, const AttemptKey& key) {
  const auto found = observations.attempts.find(key);
  return found == observations.attempts.end() ? nullptr : &found->second;
}

int64_t TotalSteps(const AttemptObservation& attempt, const v1::Job& job) {
  return attempt.total_steps > 0 ? attempt.total_steps : job.spec().train().steps();
}

int64_t LastStep(const AttemptObservation& attempt) {
  int64_t step = 0;
  for (const auto& [number, rank] : attempt.ranks) step = std::max(step, rank.step);
  return step;
}

std::string UnkillableOn(const Observations& observations, const std::string& node_id,
                         const AttemptKey& attempt) {
  const auto node = observations.nodes.find(node_id);
  if (node == observations.nodes.end()) return "";
  const auto report = node->second.reports.find(attempt);
  if (report == node->second.reports.end() || report->second.cleared()) return "";
  for (const v1::RankReport& rank : report->second.ranks()) {
    if (!rank.unkillable().empty()) return rank.unkillable();
  }
  return "";
}

bool IsAttached(const Observations& observations, const std::string& node_id) {
  const auto node = observations.nodes.find(node_id);
  return node != observations.nodes.end() && node->second.attached;
}

bool HasLeft(const NodeObservation& node) { return !node.attached && node.condition.leaving(); }

std::optional<int64_t> ClockAheadMs(const Observations& observations, const std::string& node_id) {
  const auto found = observations.nodes.find(node_id);
  return found == observations.nodes.end() ? std::nullopt : found->second.clock.AheadMs();
}

Timestamp LastHeartbeat(const Observations& observations, const std::string& node_id) {
  const auto found = observations.nodes.find(node_id);
  if (found == observations.nodes.end()) return observations.since_ms;
  return std::max(observations.since_ms, found->second.last_heartbeat_ms);
}

}  // namespace trainyard::controller
