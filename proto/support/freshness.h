// Time for which the newest report of a training step describes the present.
#ifndef TRAINYARD_PROTO_SUPPORT_FRESHNESS_H_
#define TRAINYARD_PROTO_SUPPORT_FRESHNESS_H_

#include <algorithm>
#include <cstdint>

namespace trainyard {

// True while a report is no older than half a minute or three steps, whichever is longer. Rates,
// step times and an ETA are shown only while they are fresh. `step_seconds`: 0 if unknown.
inline bool IsFresh(int64_t age_ms, double step_seconds) {
  constexpr double kFreshMs = 30'000, kFreshSteps = 3;
  return static_cast<double>(age_ms) <= std::max(kFreshMs, kFreshSteps * 1000 * step_seconds);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_FRESHNESS_H_
