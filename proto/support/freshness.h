// Decides whether the newest report of a training step is recent enough to be shown as current.
#ifndef TRAINYARD_PROTO_SUPPORT_FRESHNESS_H_
#define TRAINYARD_PROTO_SUPPORT_FRESHNESS_H_

#include <algorithm>
#include <cstdint>

namespace trainyard {

// True if the age of the newest report is at most half a minute or three step times, whichever is
// longer. Callers show rates, step times and an ETA only while this is true. `step_seconds` is the
// step time; 0 if unknown.
inline bool IsFresh(int64_t age_ms, double step_seconds) {
  constexpr double kFreshMs = 30'000, kFreshSteps = 3;
  return static_cast<double>(age_ms) <= std::max(kFreshMs, kFreshSteps * 1000 * step_seconds);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_FRESHNESS_H_
