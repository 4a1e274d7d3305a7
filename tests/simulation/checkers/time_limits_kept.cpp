// An attempt is stopped at its job's time limit: not before, unless its ranks exited after a
// warning, and not much later. The time is computed here from the log alone. Each attempt is warned
// at most once per limit, and only within the warning time.
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// The longest time after the limit: the verdict on a failed rank comes first, and the controller
// may be frozen or down.
constexpr int64_t kLatestMs = 60'000;

class TimeLimitsKeptChecker : public Checker {
 public:
  const char* Name() const override { return "time limits kept"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      Submit(step.log[i].job_submitted().job_id(), step.state);
      if (std::string wrong = CheckEvent(step.log[i]); !wrong.empty()) return wrong;
    }
    for (const auto& [job_id, use] : uses_) {
      const auto entry = step.state.jobs.find(job_id);
      const bool runs = use.placed_ms != 0 && use.stopped_ms == 0 && entry != step.state.jobs.end();
      // The attempt waits for its nodes to confirm the end.
      if (!runs || GangSucceeded(entry->second)) continue;
      if (use.Counted(step.controller_now) > use.limit_ms + kLatestMs) {
        return absl::StrCat("job ", job_id, " runs after its time limit");
      }
    }
    return "";
  }

 private:
  struct Use {
    int64_t file_limit_ms = 0;
    int64_t limit_ms = 0;  // With extensions.
    int64_t warning_ms = 0;
    int64_t used_ms = 0;  // Of ended attempts.
    Timestamp placed_ms = 0;
    Timestamp stopped_ms = 0;
    bool warned = false;
    bool at_limit = false;  // The attempt yields because of the limit.

    int64_t Counted(Timestamp now) const {
      if (placed_ms == 0) return used_ms;
      return used_ms + (stopped_ms == 0 ? now : stopped_ms) - placed_ms;
    }
  };

  // `job_id` is 0 for events that submit no job.
  void Submit(int64_t job_id, const controller::ClusterState& state) {
    const auto entry = state.jobs.find(job_id);
    if (entry == state.jobs.end() || !entry->second.job.spec().has_time_limit()) return;
    const v1::JobSpec& spec = entry->second.job.spec();
    Use& use = uses_[job_id];
    use.file_limit_ms = use.limit_ms = spec.time_limit().seconds() * 1000;
    use.warning_ms = spec.time_limit_warning().seconds() * 1000;
  }

  std::string CheckEvent(const v1::Event& event) {
    if (event.has_clock_set()) Shift(event.clock_set().step_ms());
    if (event.has_job_placed()) Place(event);
    if (event.has_job_extended()) {
      Use& use = uses_[event.job_extended().job_id()];
      use.limit_ms += event.job_extended().by_ms();
      use.warned = use.warned && use.limit_ms - use.Counted(event.time_ms()) <= use.warning_ms;
    }
    if (event.has_time_limit_warned()) return CheckWarning(event);
    if (event.has_time_limit_reached()) {
      return CheckLimit(event.time_limit_reached().job_id(), event.time_ms());
    }
    const bool yields_at_limit =
        event.has_attempt_yielded() &&
        event.attempt_yielded().yield().cause() == v1::YIELD_CAUSE_TIME_LIMIT;
    if (yields_at_limit) {
      uses_[event.attempt_yielded().job_id()].at_limit = true;
      return CheckLimit(event.attempt_yielded().job_id(), event.time_ms());
    }
    if (event.has_attempt_failed()) Stop(event.attempt_failed().job_id(), event.time_ms());
    if (event.has_attempt_rolled_back()) {
      Stop(event.attempt_rolled_back().job_id(), event.time_ms());
    }
    if (event.has_attempt_yielded()) Stop(event.attempt_yielded().job_id(), event.time_ms());
    if (event.has_job_stop_requested()) {
      Stop(event.job_stop_requested().job_id(), event.time_ms());
    }
    if (event.has_job_paused()) Stop(event.job_paused().job_id(), event.time_ms());
    if (event.has_attempt_ended()) End(event.attempt_ended(), event.time_ms());
    return "";
  }

  std::string CheckLimit(int64_t job_id, Timestamp now) {
    const Use& use = uses_[job_id];
    const bool early = use.Counted(now) < use.limit_ms && !use.warned;
    Stop(job_id, now);
    return early ? absl::StrCat("job ", job_id, " was stopped before its time limit") : "";
  }

  std::string CheckWarning(const v1::Event& event) {
    const int64_t job_id = event.time_limit_warned().job_id();
    Use& use = uses_[job_id];
    const int64_t left_ms = use.limit_ms - use.Counted(event.time_ms());
    if (use.warned) return absl::StrCat("job ", job_id, " was warned twice of one limit");
    if (left_ms > use.warning_ms) return absl::StrCat("job ", job_id, " was warned too early");
    use.warned = true;
    return "";
  }

  void Place(const v1::Event& event) {
    const auto use = uses_.find(event.job_placed().job_id());
    if (use == uses_.end()) return;
    use->second.placed_ms = event.time_ms();
    use->second.stopped_ms = 0;
    use->second.warned = false;
    use->second.at_limit = false;
  }

  void Stop(int64_t job_id, Timestamp now) {
    const auto use = uses_.find(job_id);
    if (use == uses_.end() || use->second.placed_ms == 0 || use->second.stopped_ms != 0) return;
    use->second.stopped_ms = now;
  }

  void End(const v1::AttemptEnded& ended, Timestamp now) {
    const auto found = uses_.find(ended.job_id());
    if (found == uses_.end()) return;
    Use& use = found->second;
    use.used_ms = use.Counted(now);
    use.placed_ms = use.stopped_ms = 0;
    if (!use.at_limit || ended.retry_not_before_ms() == 0) return;
    use.used_ms = 0;
    use.limit_ms = use.file_limit_ms;
  }

  // Adjusts times for a changed clock.
  void Shift(int64_t step_ms) {
    for (auto& [job_id, use] : uses_) {
      if (use.placed_ms != 0) use.placed_ms += step_ms;
      if (use.stopped_ms != 0) use.stopped_ms += step_ms;
    }
  }

  std::map<int64_t, Use> uses_;
};

}  // namespace

std::unique_ptr<Checker> TimeLimitsKept() { return std::make_unique<TimeLimitsKeptChecker>(); }

}  // namespace trainyard::simulation
