#include "controller/core/stall.h"

#include <algorithm>

namespace trainyard::controller {

int64_t LongestPauseMs(const AttemptObservation& attempt) {
  constexpr int64_t kShortStepsPauseMs = 5000;
  return std::max(kShortStepsPauseMs, static_cast<int64_t>(3000 * attempt.step_times.Slow()));
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

}  // namespace trainyard::controller
