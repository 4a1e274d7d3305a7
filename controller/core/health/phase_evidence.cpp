#include "controller/core/health/phase_evidence.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "controller/core/health/gang_limit.h"
#include "controller/core/health/start_evidence.h"
#include "controller/core/observations/stall.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "proto/contract/phase.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

bool SavesOrEvaluates(const RankObservation& rank) {
  return rank.phase == PhaseName(Phase::kCheckpoint) || rank.phase == PhaseName(Phase::kEval);
}

// Returns the longest time that the rank may be in its phase without progress. Returns nullopt if
// unknown.
std::optional<int64_t> PhaseLimitMs(const Observations& observations, const CoreOptions& options,
                                    int64_t job_id, const AttemptObservation& attempt,
                                    const RankObservation& rank) {
  if (SavesOrEvaluates(rank)) {
    const auto longest_ms = LongestPhaseMs(observations, job_id, rank.phase);
    if (!longest_ms.has_value()) return std::nullopt;
    return std::max(kShortestPhaseLimitMs, 3 * *longest_ms);
  }
  if (!CanStall(attempt, rank)) return std::nullopt;
  return std::max(options.lost_after_ms, LongestPauseMs(attempt));
}

}  // namespace

std::string EvidenceOfLostPhase(const Observations& observations, const CoreOptions& options,
                                const JobEntry& entry, const std::string& node_id, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt.number()});
  if (observed == nullptr || CountSeated(attempt, entry.exited_ranks) > 0) return "";
  const Timestamp last_heartbeat_ms = LastHeartbeat(observations, node_id);
  std::string phase;
  Timestamp since_ms = 0;
  for (const v1::RankPlacement& placement : attempt.ranks()) {
    if (placement.node_id() == node_id || !IsSeated(placement)) continue;
    const auto rank = observed->ranks.find(PlaceOf(placement));
    const bool is_seen = rank != observed->ranks.end() && rank->second.running &&
                         HasSettledReports(observations, options, placement.node_id(), now);
    if (!is_seen) return "";
    const auto limit_ms =
        PhaseLimitMs(observations, options, entry.job.id(), *observed, rank->second);
    const Timestamp moved_ms = LastProgress(rank->second);
    if (!limit_ms.has_value() || now - moved_ms < *limit_ms) return "";
    if (rank->second.moving_until_ms < last_heartbeat_ms - *limit_ms) return "";
    if (SavesOrEvaluates(rank->second)) phase = rank->second.phase;
    since_ms = std::max(since_ms, moved_ms);
  }
  if (phase.empty()) return "";
  return absl::StrCat(", and the ranks of ", JobText(entry.job),
                      " on other nodes have waited in the phase ", phase, " for ",
                      DurationText(now - since_ms));
}

}  // namespace trainyard::controller
