#include "tests/simulation/replay/replay.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace trainyard::replay {

ReplayState::ReplayState(const std::vector<TraceJob>& jobs, NodePool pool)
    : jobs_(jobs), pool_(std::move(pool)) {
  for (const TraceJob& job : jobs) progress_.push_back({.remaining = job.duration});
}

void ReplayState::Start(int number, const Allocation& allocation) {
  const int64_t remaining = progress_[number].remaining;
  const int64_t limit = std::max(jobs_[number].limit, remaining);
  pool_.Take(allocation);
  pending_.erase(number);
  running_[number] = {number, now_, now_ + remaining, now_ + limit, allocation};
  ends_.insert({now_ + remaining, number});
}

void ReplayState::End(int number) {
  const RunningJob& running = running_.at(number);
  ends_.erase({running.end, number});
  pool_.Return(running.allocation);
  runs_.push_back({number, running.start, now_});
  running_.erase(number);
}

void ReplayState::Preempt(int number) {
  JobProgress& progress = progress_[number];
  progress.remaining = running_.at(number).end - now_ + kRestartCost;
  ++progress.preemptions;
  End(number);
  pending_.insert(number);
}

// Advances a ReplayState from event to event.
class Replay {
 public:
  Replay(const std::vector<TraceJob>& jobs, const NodePool& pool) : state_(jobs, pool) {}

  std::vector<JobRun> Run(Policy& policy) {
    while (HasNext()) {
      Advance();
      policy.Pass(state_);
    }
    if (!state_.pending_.empty()) throw std::runtime_error("a job waits on an empty cluster");
    return std::move(state_.runs_);
  }

 private:
  bool HasNext() const { return next_ < state_.jobs_.size() || !state_.ends_.empty(); }

  void Advance() {
    const int64_t arrival = next_ < state_.jobs_.size() ? state_.jobs_[next_].submit : INT64_MAX;
    const int64_t end = state_.ends_.empty() ? INT64_MAX : state_.ends_.begin()->first;
    state_.now_ = std::min(arrival, end);
    while (!state_.ends_.empty() && state_.ends_.begin()->first == state_.now_) {
      state_.End(state_.ends_.begin()->second);
    }
    for (; next_ < state_.jobs_.size() && state_.jobs_[next_].submit == state_.now_; ++next_) {
      state_.pending_.insert(static_cast<int>(next_));
    }
  }

  ReplayState state_;
  size_t next_ = 0;  // The next job to arrive.
};

std::vector<JobRun> RunReplay(const std::vector<TraceJob>& jobs, const NodePool& pool,
                              Policy& policy) {
  for (const TraceJob& job : jobs) {
    if (!pool.Fits(job.gpus)) throw std::runtime_error("a job does not fit on the empty cluster");
  }
  return Replay(jobs, pool).Run(policy);
}

}  // namespace trainyard::replay
