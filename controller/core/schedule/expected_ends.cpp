#include "controller/core/schedule/expected_ends.h"

#include <algorithm>

#include "controller/core/state/job_timing.h"

namespace trainyard::controller {

ExpectedEnd ExpectedEndOf(const ClusterState& state, const Observations& observations,
                          Timestamp now) {
  return [&state, &observations, now](int64_t job_id) -> Timestamp {
    const JobEntry* entry = FindEntry(state, job_id);
    const v1::Attempt* live = entry == nullptr ? nullptr : LiveAttempt(*entry);
    if (live == nullptr) return kNever;
    if (live->state() == v1::ATTEMPT_STATE_STOPPING) {
      return std::max(now + 1, live->stopping_time_ms() + StopGraceMs(*entry));
    }
    const int64_t limit = ToMs(entry->job.spec().time_limit());
    return std::max(now + 1, live->placed_time_ms() + (limit == 0 ? kUnknownRunMs : limit));
  };
}

}  // namespace trainyard::controller
