#include "controller/core/schedule/expected_ends.h"

#include <algorithm>

#include "controller/core/observations/expected_end.h"

namespace trainyard::controller {

ExpectedEnds ExpectedEndsOf(const ClusterState& state, const Observations& observations,
                            Timestamp now) {
  return [&state, &observations, now](int64_t job_id) -> Timestamp {
    const JobEntry* entry = FindEntry(state, job_id);
    const v1::Attempt* live = entry == nullptr ? nullptr : LiveAttempt(*entry);
    if (live == nullptr) return kNever;
    const Timestamp unknown = live->placed_time_ms() + kUnknownRunMs;
    return std::max(now + 1, ExpectedEnd(*entry, observations, now).value_or(unknown));
  };
}

}  // namespace trainyard::controller
