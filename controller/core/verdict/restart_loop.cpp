#include "controller/core/verdict/restart_loop.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/restart_budget.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/error_line.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

bool IsFailed(const v1::Attempt& attempt) {
  const v1::VerdictCause cause = attempt.verdict().cause();
  return attempt.has_verdict() && cause != v1::VERDICT_CAUSE_COMPLETED &&
         cause != v1::VERDICT_CAUSE_STOPPED;
}

// Returns the time of the failure by the controller's clock. Verdict.time_ms may be by the node's
// clock.
Timestamp FailedMs(const v1::Attempt& attempt) {
  return attempt.stopping_time_ms() != 0 ? attempt.stopping_time_ms() : attempt.ended_time_ms();
}

// The rank may differ: a program error may appear first on any rank.
bool HasSameCause(const v1::Verdict& a, const v1::Verdict& b) {
  const bool lines_known = !a.error_line().empty() && !b.error_line().empty();
  return a.cause() == b.cause() && a.exit_code() == b.exit_code() && a.signal() == b.signal() &&
         (!lines_known || SameError(a.error_line(), b.error_line()));
}

// Returns the newest failed attempts that have one cause, newest first. All these attempts failed
// after `since`.
std::vector<const v1::Attempt*> NewestEqualFailures(const v1::Job& job, Timestamp since) {
  std::vector<const v1::Attempt*> equal;
  for (int i = job.attempts_size() - 1; i >= 0; --i) {
    const v1::Attempt& attempt = job.attempts(i);
    const bool is_live = i == job.attempts_size() - 1 && !attempt.has_verdict();
    if (is_live) continue;
    if (!IsFailed(attempt) || FailedMs(attempt) <= since) break;
    if (!equal.empty() && !HasSameCause(attempt.verdict(), equal.front()->verdict())) break;
    equal.push_back(&attempt);
  }
  return equal;
}

// Returns true if the live attempt has run longer, and to a later step, than all of `failures`.
bool HasOutlived(const Observations& observations, const JobEntry& entry,
                 const std::vector<const v1::Attempt*>& failures, Timestamp now) {
  const v1::Attempt* live = LiveAttempt(entry);
  if (live == nullptr || live->has_verdict() || live->started_time_ms() == 0) return false;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), live->number()});
  const int64_t step = observed == nullptr ? 0 : LastStep(*observed);
  return std::ranges::all_of(failures, [&](const v1::Attempt* failed) {
    const int64_t life_ms = FailedMs(*failed) - failed->placed_time_ms();
    const bool made_steps = failed->last_step() > failed->resume_step();
    return now - live->placed_time_ms() > life_ms && (!made_steps || step > failed->last_step());
  });
}

std::string AttemptsText(const std::vector<const v1::Attempt*>& failures) {
  return absl::StrCat("attempts ", failures.back()->number(), " to ", failures.front()->number());
}

v1::HealthFinding Finding(const JobEntry& entry) {
  v1::HealthFinding finding;
  finding.set_word(v1::HEALTH_WORD_LOOPING);
  finding.set_advice(absl::StrCat("`trainyard logs ", entry.job.id(),
                                  " --tail 40` shows the last output; `trainyard pause ",
                                  entry.job.id(), "` stops the restarts and frees the slots"));
  return finding;
}

}  // namespace

std::optional<v1::HealthFinding> WhyLooping(const Observations& observations, const JobEntry& entry,
                                            Timestamp now) {
  const v1::Job& job = entry.job;
  const bool is_active = job.state() == v1::JOB_STATE_STARTING ||
                         job.state() == v1::JOB_STATE_RUNNING ||
                         job.state() == v1::JOB_STATE_RECOVERING;
  if (!is_active) return std::nullopt;
  const int64_t window_ms = ToMs(job.spec().restart().window());
  const int limit = job.spec().restart().max_restarts();
  const int used = RestartsInWindow(entry, now);
  const std::string budget =
      absl::StrCat(used, " of ", limit, " restarts within ", DurationText(window_ms), " are used");
  v1::HealthFinding finding = Finding(entry);
  const auto failures = NewestEqualFailures(job, now - window_ms);
  if (static_cast<int>(failures.size()) >= kEqualFailures &&
      !HasOutlived(observations, entry, failures, now)) {
    finding.set_since_ms(FailedMs(*failures[failures.size() - kEqualFailures]));
    if (failures.front()->verdict().rank() >= 0)
      finding.add_ranks(failures.front()->verdict().rank());
    finding.set_message(absl::StrCat(AttemptsText(failures), " failed for one cause: ",
                                     failures.front()->verdict().summary(), "; ", budget));
    return finding;
  }
  if (used < kEqualFailures || limit - used > limit / 10) return std::nullopt;
  finding.set_since_ms(entry.restart_times_ms.back());
  finding.set_message(
      absl::StrCat(budget, ", so the job ends after ", Counted(limit - used + 1, "more failure")));
  return finding;
}

}  // namespace trainyard::controller
