// No job is restarted more often than its budget allows within the window, or before its backoff
// has ended. Restarts for which the job is not to blame do not count.
#include <deque>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class RestartBudgetKeptChecker : public Checker {
 public:
  const char* Name() const override { return "restart budget kept"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_clock_set()) Shift(event.clock_set().step_ms());
      if (event.has_job_placed() && event.time_ms() < not_before_[event.job_placed().job_id()]) {
        return absl::StrCat("job ", event.job_placed().job_id(), " did not wait out its backoff");
      }
      Note(event);
      if (!event.has_attempt_ended() || event.attempt_ended().retry_not_before_ms() == 0) continue;
      const int64_t job_id = event.attempt_ended().job_id();
      // A job that yielded its slots returns to the queue without a backoff.
      const bool yielded = yielded_.contains(job_id);
      if (!yielded) not_before_[job_id] = event.attempt_ended().retry_not_before_ms();
      if (event.attempt_ended().uncounted()) {
        const bool interrupted = yielded || paused_.contains(job_id);
        if (interrupted && !verdicts_.contains(job_id)) continue;
        const v1::Verdict& verdict = verdicts_[job_id];
        constexpr int kTryAgain = 75, kBadCheckpoint = 74;
        if (verdict.cause() == v1::VERDICT_CAUSE_LOSS_SPIKE) continue;
        if (verdict.cause() == v1::VERDICT_CAUSE_LOSS_NOT_FINITE) continue;
        if (verdict.exit_code() == kTryAgain || verdict.exit_code() == kBadCheckpoint) continue;
        // No process of the job ran on the blamed node, so the restart does not count.
        if (verdict.cause() == v1::VERDICT_CAUSE_NODE_FAULT) continue;
        const bool lost = verdict.cause() == v1::VERDICT_CAUSE_NODE_LOST;
        if (lost && !started_on_[job_id].contains(verdict.node_id())) continue;
        return absl::StrCat("a restart of job ", job_id, " was not counted");
      }
      const v1::RestartSpec& rules = step.state.jobs.at(job_id).job.spec().restart();
      std::deque<Timestamp>& restarts = restarts_[job_id];
      restarts.push_back(event.time_ms());
      const int64_t window_ms = rules.window().seconds() * 1000;
      while (restarts.front() <= event.time_ms() - window_ms) restarts.pop_front();
      if (static_cast<int>(restarts.size()) > rules.max_restarts()) {
        return absl::StrCat("job ", job_id, " was restarted ", restarts.size(), " times");
      }
    }
    return "";
  }

 private:
  void Note(const v1::Event& event) {
    if (event.has_job_placed()) {
      placed_[event.job_placed().job_id()] = event.job_placed();
      started_on_[event.job_placed().job_id()].clear();
      verdicts_.erase(event.job_placed().job_id());
      paused_.erase(event.job_placed().job_id());
      yielded_.erase(event.job_placed().job_id());
    }
    if (event.has_job_paused()) paused_.insert(event.job_paused().job_id());
    if (event.has_attempt_yielded()) yielded_.insert(event.attempt_yielded().job_id());
    // A job that a user resumes does not wait for the end of its backoff.
    if (event.has_job_resumed()) not_before_.erase(event.job_resumed().job_id());
    if (event.has_rank_started()) {
      const v1::RankStarted& started = event.rank_started();
      const v1::JobPlaced& placed = placed_[started.job_id()];
      if (placed.attempt() == started.attempt()) {
        started_on_[started.job_id()].insert(placed.ranks(started.rank()).node_id());
      }
    }
    if (event.has_attempt_failed()) {
      verdicts_[event.attempt_failed().job_id()] = event.attempt_failed().verdict();
    }
    if (event.has_attempt_rolled_back()) {
      verdicts_[event.attempt_rolled_back().job_id()] = event.attempt_rolled_back().verdict();
    }
  }

  // Adjusts times for a changed clock: waits and windows keep their durations.
  void Shift(int64_t step_ms) {
    for (auto& [job_id, times] : restarts_) {
      for (Timestamp& time : times) time += step_ms;
    }
    for (auto& [job_id, time] : not_before_) time += step_ms;
  }

  std::map<int64_t, std::deque<Timestamp>> restarts_;
  // Time at which each job's newest backoff ends.
  std::map<int64_t, Timestamp> not_before_;
  // The verdict on each job's newest attempt, and the set of jobs that users have paused since the
  // placement of the newest attempt.
  std::map<int64_t, v1::Verdict> verdicts_;
  std::set<int64_t> paused_;
  // Jobs whose newest attempt was asked to yield its slots.
  std::set<int64_t> yielded_;
  // The newest placement of each job, and the nodes on which that placement's ranks have started.
  std::map<int64_t, v1::JobPlaced> placed_;
  std::map<int64_t, std::set<std::string>> started_on_;
};

}  // namespace

std::unique_ptr<Checker> RestartBudgetKept() {
  return std::make_unique<RestartBudgetKeptChecker>();
}

}  // namespace trainyard::simulation
