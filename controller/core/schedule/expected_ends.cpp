#include "controller/core/schedule/expected_ends.h"

#include <algorithm>
#include <memory>

#include "controller/core/schedule/job_times.h"
#include "controller/core/state/jobs/run_end.h"

namespace trainyard::controller {
namespace {

// The ends of all live attempts.
JobTimes TimesOf(const ClusterState& state, const Observations& observations, Timestamp now) {
  JobTimes times(state.run_ends.size());
  // Both lists are sorted by job.
  auto observed = observations.attempts.begin();
  const auto last = observations.attempts.end();
  for (const auto& [job_id, run] : state.run_ends) {
    const AttemptKey key{job_id, run.attempt};
    while (observed != last && observed->first < key) ++observed;
    const bool is_observed = observed != last && observed->first == key;
    const Timestamp end = EarlierEnd(run, is_observed ? observed->second.steps_end_ms : 0);
    times.Set(job_id, std::max(now + 1, end == 0 ? run.placed_ms + kUnknownRunMs : end));
  }
  return times;
}

}  // namespace

ExpectedEnds ExpectedEndsOf(const ClusterState& state, const Observations& observations,
                            Timestamp now) {
  // Computed at the first call, because most passes of an idle cluster ask for no job.
  auto times = std::make_shared<std::optional<JobTimes>>();
  return [&state, &observations, now, times](int64_t job_id) -> Timestamp {
    if (!times->has_value()) times->emplace(TimesOf(state, observations, now));
    return (*times)->Find(job_id).value_or(kNever);
  };
}

}  // namespace trainyard::controller
