#include "controller/core/explain/usual_run_times.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "controller/core/state/attempts/time_limit.h"

namespace trainyard::controller {

int UsualRunTimes::ClassOfLimit(int64_t limit_ms) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(limit_ms, 0)));
}

void UsualRunTimes::Add(int64_t limit_ms, int64_t ran_ms) {
  std::vector<int64_t>& times = ran_ms_[ClassOfLimit(limit_ms)];
  times.insert(std::ranges::upper_bound(times, ran_ms), ran_ms);
}

int64_t UsualRunTimes::RestMs(int64_t limit_ms, int64_t ran_ms) const {
  const int64_t rest = std::max<int64_t>(0, limit_ms - ran_ms);
  const auto found = ran_ms_.find(ClassOfLimit(limit_ms));
  if (found == ran_ms_.end()) return rest;
  const auto longer = std::ranges::upper_bound(found->second, ran_ms);
  const auto count = static_cast<std::size_t>(found->second.end() - longer);
  if (count < kLeastJobs) return rest;
  return std::min(rest, longer[static_cast<std::ptrdiff_t>(count / 2)] - ran_ms);
}

UsualRunTimes UsualRunTimesOf(const ClusterState& state) {
  UsualRunTimes usual;
  for (const auto& [ended_ms, job_id] : state.ended_jobs) {
    const v1::Job& job = state.jobs.at(job_id).job;
    const std::optional<int64_t> limit_ms = TimeLimitMs(job);
    if (limit_ms.has_value()) usual.Add(*limit_ms, CountedMs(job, ended_ms));
  }
  return usual;
}

}  // namespace trainyard::controller
