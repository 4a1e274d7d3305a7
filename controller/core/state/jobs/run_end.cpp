#include "controller/core/state/jobs/run_end.h"

#include <algorithm>
#include <optional>

#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/jobs/job_timing.h"

namespace trainyard::controller {

RunEnd RunEndOf(const JobEntry& entry) {
  const v1::Attempt& live = *LiveAttempt(entry);
  RunEnd end{.attempt = live.number(), .placed_ms = live.placed_time_ms()};
  if (live.stopping_time_ms() != 0) end.stop_ms = live.stopping_time_ms() + StopGraceMs(entry);
  if (const std::optional<int64_t> limit_ms = TimeLimitMs(entry.job)) {
    end.limit_ms = live.placed_time_ms() + *limit_ms - entry.job.time_limit_use().used_ms();
  }
  return end;
}

Timestamp EarlierEnd(const RunEnd& run, Timestamp steps_end_ms) {
  if (run.stop_ms != 0) return run.stop_ms;
  if (run.limit_ms == 0 || steps_end_ms == 0) return std::max(run.limit_ms, steps_end_ms);
  return std::min(run.limit_ms, steps_end_ms);
}

void UpdateRunEnd(int64_t job_id, ClusterState& state) {
  const JobEntry* entry = FindEntry(state, job_id);
  if (entry == nullptr || LiveAttempt(*entry) == nullptr) {
    state.run_ends.erase(job_id);
  } else {
    state.run_ends[job_id] = RunEndOf(*entry);
  }
}

void UpdateRunEnds(ClusterState& state) {
  for (const int64_t id : state.live_jobs) UpdateRunEnd(id, state);
}

}  // namespace trainyard::controller
