#include "tests/simulation/replay/reference_policies.h"

#include <map>
#include <optional>
#include <set>

namespace trainyard::replay {
namespace {

constexpr int64_t kNoLimit = int64_t{60} * 24 * 3600;

// Starts jobs in their order until one does not fit. Returns that job; nullopt if all have started.
std::optional<int> StartInOrder(ReplayState& state) {
  while (!state.pending().empty()) {
    const int next = *state.pending().begin();
    const std::optional<Allocation> found = state.pool().Find(state.job(next).gpus);
    if (!found.has_value()) return next;
    state.Start(next, *found);
  }
  return std::nullopt;
}

// The promise to the head: the time, and the GPUs that are then free.
struct Promise {
  int64_t time = 0;
  NodePool free;
};

Promise PromiseTo(int gpus, const ReplayState& state) {
  std::multimap<int64_t, const Allocation*> ends;
  for (const auto& [number, running] : state.running()) {
    ends.emplace(running.latest_end, &running.allocation);
  }
  Promise promise{state.now(), state.pool()};
  for (const auto& [latest_end, allocation] : ends) {
    // The GPUs of all jobs with the same latest end are free at that time.
    if (latest_end > promise.time && promise.free.Fits(gpus)) break;
    promise.time = latest_end;
    promise.free.Return(*allocation);
  }
  return promise;
}

int64_t LimitOf(const TraceJob& job) { return job.limit > 0 ? job.limit : kNoLimit; }

// True if the head still fits at its promised time if a job keeps `allocation` beyond that time.
bool LeavesRoom(const Allocation& allocation, int head_gpus, Promise& promise) {
  promise.free.Take(allocation);
  const bool fits = promise.free.Fits(head_gpus);
  if (!fits) promise.free.Return(allocation);
  return fits;
}

}  // namespace

void FirstComeFirstServed::Pass(ReplayState& state) { StartInOrder(state); }

void EasyBackfill::Pass(ReplayState& state) {
  const std::optional<int> head = StartInOrder(state);
  if (!head.has_value()) return;
  const int head_gpus = state.job(*head).gpus;
  Promise promise = PromiseTo(head_gpus, state);
  std::set<int> too_large;  // Sizes that do not fit now.
  for (auto next = std::next(state.pending().begin()); next != state.pending().end();) {
    const int number = *next++;
    const TraceJob& job = state.job(number);
    if (too_large.contains(job.gpus)) continue;
    const std::optional<Allocation> found = state.pool().Find(job.gpus);
    if (!found.has_value()) {
      too_large.insert(job.gpus);
    } else if (state.now() + LimitOf(job) <= promise.time ||
               LeavesRoom(*found, head_gpus, promise)) {
      state.Start(number, *found);
    }
  }
}

}  // namespace trainyard::replay
