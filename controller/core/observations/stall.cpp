#include "controller/core/observations/stall.h"

#include <algorithm>

namespace trainyard::controller {

int64_t LongestPauseMs(const AttemptObservation& attempt) {
  constexpr int64_t kShortStepsPauseMs = 5000;
  int64_t slow_ms = static_cast<int64_t>(1000 * attempt.step_times.Slow());
  // The workers' timing is needed as well, because a program may report only every hundredth step.
  if (!attempt.slow_steps_ms.empty()) slow_ms = std::max(slow_ms, *attempt.slow_steps_ms.rbegin());
  return std::max(kShortStepsPauseMs, 3 * slow_ms);
}

bool CanStall(const AttemptObservation& attempt, const RankObservation& rank) {
  return !attempt.step_times.empty() && IsTraining(rank);
}

bool CanStall(const AttemptObservation& attempt) {
  return !attempt.ranks.empty() && std::ranges::all_of(attempt.ranks, [&](const auto& rank) {
    return CanStall(attempt, rank.second);
  });
}

Timestamp StalledSince(const AttemptObservation& attempt, Timestamp until) {
  if (!CanStall(attempt)) return 0;
  Timestamp moved_ms = 0;
  for (const auto& [number, rank] : attempt.ranks) {
    moved_ms = std::max(moved_ms, LastProgress(rank));
  }
  return until - moved_ms > LongestPauseMs(attempt) ? moved_ms : 0;
}

bool AllReport(const AttemptObservation& attempt, Timestamp now) {
  return std::ranges::all_of(attempt.ranks, [&](const auto& rank) {
    return !rank.second.running || now - rank.second.ran_ms <= kReportPauseMs;
  });
}

std::optional<Stall> UnrecordedStall(const AttemptObservation& observed,
                                     const v1::Attempt& attempt) {
  if (!observed.stall.has_value() || observed.stall->until_ms == 0) return std::nullopt;
  Stall stall = *observed.stall;
  if (attempt.stopping_time_ms() != 0) {
    stall.until_ms = std::min(stall.until_ms, attempt.stopping_time_ms());
  }
  const bool is_recorded = stall.until_ms <= attempt.time_use().stalled_until_ms();
  if (is_recorded || stall.until_ms <= stall.since_ms) return std::nullopt;
  return stall;
}

}  // namespace trainyard::controller
