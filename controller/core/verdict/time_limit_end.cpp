#include "controller/core/verdict/time_limit_end.h"

#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/support/controller_event.h"

namespace trainyard::controller {
namespace {

// Returns the reason why another period would not help. Empty if it may help.
std::string WhyNoRequeue(const v1::Job& job, int64_t last_step) {
  const v1::TimeLimitUse& use = job.time_limit_use();
  if (const auto step = ProgressStep(job, last_step)) {
    if (*step > use.start_step()) return "";
    return absl::StrCat("it is not queued again, because it has saved no checkpoint since step ",
                        use.start_step(),
                        "; set a longer time_limit, or lower checkpoint.every_steps");
  }
  if (use.requeues() < kMostBlindRequeues) return "";
  return absl::StrCat("it is not queued again, because it was already queued again ",
                      use.requeues(), " times without reporting a step or a checkpoint");
}

// Returns the duration in the largest unit that needs no fraction, because a rounded limit would
// mislead.
std::string ExactDuration(int64_t ms) {
  if (ms % 3'600'000 == 0) return absl::StrCat(ms / 3'600'000, " h");
  if (ms % 60'000 == 0) return absl::StrCat(ms / 60'000, " min");
  if (ms % 1000 == 0) return absl::StrCat(ms / 1000, " s");
  return absl::StrCat(ms, " ms");
}

bool IsQueuedAgain(const v1::Job& job) {
  return job.spec().at_time_limit() == v1::AT_TIME_LIMIT_REQUEUE;
}

// Returns true if all ranks have exited with 0, probably because of the warning: they were warned,
// and the run is not known to be complete.
bool ExitedAfterWarning(const JobEntry& entry, const Observations& observations) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (!attempt.time_limit_warnings().current() || !HasFinished(entry)) return false;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt.number()});
  if (observed == nullptr) return true;
  const int64_t total = TotalSteps(*observed, entry.job);
  return total == 0 || LastStep(*observed) < total;
}

}  // namespace

std::optional<v1::Event> TimeLimitEvent(const JobEntry& entry, const Observations& observations,
                                        Timestamp now) {
  const bool is_over = RemainingTime(entry.job, now) == 0 && CanYield(entry);
  if (!is_over && !ExitedAfterWarning(entry, observations)) return std::nullopt;
  v1::Event event = ControllerEvent(now);
  if (!IsQueuedAgain(entry.job)) {
    event.mutable_time_limit_reached()->set_job_id(entry.job.id());
    event.mutable_time_limit_reached()->set_attempt(LiveAttempt(entry)->number());
    return event;
  }
  v1::AttemptYielded& yielded = *event.mutable_attempt_yielded();
  yielded.set_job_id(entry.job.id());
  yielded.set_attempt(LiveAttempt(entry)->number());
  yielded.mutable_yield()->set_cause(v1::YIELD_CAUSE_TIME_LIMIT);
  yielded.mutable_yield()->set_reason(
      absl::StrCat("it has reached its time limit of ", TimeLimitText(entry.job)));
  return event;
}

bool IsWarningDue(const JobEntry& entry, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const std::optional<int64_t> warning_ms = WarningMs(entry.job.spec());
  if (!warning_ms.has_value() || attempt.time_limit_warnings().current()) return false;
  return attempt.state() == v1::ATTEMPT_STATE_RUNNING && CanYield(entry) &&
         RemainingTime(entry.job, now) <= *warning_ms;
}

void ExplainWarning(const JobEntry& entry, v1::Verdict& verdict) {
  const std::string& name = entry.job.spec().time_limit_signal();
  const int signal = name == "USR1" ? SIGUSR1 : name == "USR2" ? SIGUSR2 : 0;
  const bool was_warned = LiveAttempt(entry)->time_limit_warnings().number() > 0;
  if (!was_warned || signal == 0 || verdict.signal() != signal) return;
  absl::StrAppend(verdict.mutable_summary(), "; SIG", name,
                  " is the warning before the time limit, and the program has no handler for it; "
                  "add a handler, or remove time_limit_signal");
  verdict.set_restartable(false);
}

TimeLimitEnd EndAtTimeLimit(const JobEntry& entry, int64_t last_step, bool restarts,
                            Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (attempt.stop_reason() == v1::STOP_REASON_TIME_LIMIT) return {.ends_job = true};
  const bool yields = attempt.stop_reason() == v1::STOP_REASON_YIELDED &&
                      attempt.yield().cause() == v1::YIELD_CAUSE_TIME_LIMIT;
  if (yields && !entry.job.has_pause()) {
    std::string refusal = WhyNoRequeue(entry.job, last_step);
    return {.ends_job = !refusal.empty(), .refusal = std::move(refusal)};
  }
  const bool has_no_time = restarts && entry.job.state() == v1::JOB_STATE_RECOVERING &&
                           RemainingTime(entry.job, now) == 0;
  return {.ends_job = has_no_time && !IsQueuedAgain(entry.job)};
}

v1::Verdict TimeLimitVerdict(const v1::Job& job, const std::string& refusal, Timestamp now) {
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_TIME_LIMIT);
  verdict.set_rank(-1);
  verdict.set_time_ms(now);
  verdict.set_summary(absl::StrCat("ended by its time limit of ", TimeLimitText(job)));
  if (!refusal.empty()) absl::StrAppend(verdict.mutable_summary(), "; ", refusal);
  return verdict;
}

std::string TimeLimitText(const v1::Job& job) {
  const int64_t extended_ms = job.time_limit_use().extended_ms();
  std::string text = ExactDuration(TimeLimitMs(job).value_or(0));
  if (extended_ms > 0) absl::StrAppend(&text, " (extended by ", ExactDuration(extended_ms), ")");
  return text;
}

}  // namespace trainyard::controller
