#include "controller/core/state/attempts/restart_budget.h"

#include <algorithm>
#include <deque>

#include "controller/core/state/attempts/starting_point.h"

namespace trainyard::controller {

void CountRestart(Timestamp now, JobEntry& entry) {
  entry.restarts_without_progress =
      PublishedNewerCheckpoint(entry) ? 0 : entry.restarts_without_progress + 1;
  const Timestamp window_start = now - ToMs(entry.job.spec().restart().window());
  std::deque<Timestamp>& times = entry.restart_times_ms;
  times.push_back(now);
  while (times.front() <= window_start && times.size() > 1) times.pop_front();
  entry.job.set_restarts(static_cast<int>(times.size()));
}

int RestartsInWindow(const JobEntry& entry, Timestamp now) {
  const Timestamp window_start = now - ToMs(entry.job.spec().restart().window());
  return static_cast<int>(std::ranges::count_if(
      entry.restart_times_ms, [&](Timestamp time) { return time > window_start; }));
}

}  // namespace trainyard::controller
