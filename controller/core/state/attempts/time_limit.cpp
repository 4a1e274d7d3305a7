#include "controller/core/state/attempts/time_limit.h"

#include <algorithm>

#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/support/durations.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules/time_limit_rules.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

// Returns the counted milliseconds of a live attempt.
int64_t CountedMs(const v1::Attempt& attempt, Timestamp now) {
  const Timestamp until = attempt.stopping_time_ms() == 0 ? now : attempt.stopping_time_ms();
  return std::max<int64_t>(0, until - attempt.placed_time_ms());
}

const v1::Attempt* LiveAttempt(const v1::Job& job) {
  if (job.attempts().empty()) return nullptr;
  const v1::Attempt& newest = *job.attempts().rbegin();
  return newest.state() == v1::ATTEMPT_STATE_ENDED ? nullptr : &newest;
}

}  // namespace

std::optional<int64_t> TimeLimitMs(const v1::Job& job) {
  if (!job.spec().has_time_limit()) return std::nullopt;
  return ToMs(job.spec().time_limit()) + job.time_limit_use().extended_ms();
}

int64_t CountedMs(const v1::Job& job, Timestamp now) {
  const v1::Attempt* live = LiveAttempt(job);
  return job.time_limit_use().used_ms() + (live == nullptr ? 0 : CountedMs(*live, now));
}

std::optional<int64_t> RemainingTime(const v1::Job& job, Timestamp now) {
  const std::optional<int64_t> limit_ms = TimeLimitMs(job);
  if (!limit_ms.has_value()) return std::nullopt;
  return std::max<int64_t>(0, *limit_ms - CountedMs(job, now));
}

std::optional<int64_t> WarningMs(const v1::JobSpec& spec) {
  if (!spec.has_time_limit() || spec.time_limit_signal().empty()) return std::nullopt;
  return spec.has_time_limit_warning() ? ToMs(spec.time_limit_warning())
                                       : kDefaultWarningSeconds * 1000;
}

std::optional<int64_t> ProgressStep(const v1::Job& job, int64_t last_step) {
  const bool reports_saves = !job.checkpoints().empty() || !job.deleted_checkpoints().empty();
  if (reports_saves || RunsOurTrainer(job.spec())) return NextStartingPoint(job).step;
  const bool counts_steps = ProgramRulesOf(job.spec()).saves && last_step > 0;
  return counts_steps ? std::optional<int64_t>(last_step) : std::nullopt;
}

void CountAttempt(Timestamp now, v1::Job& job) {
  const v1::Attempt* live = LiveAttempt(job);
  if (live == nullptr || !job.spec().has_time_limit()) return;
  v1::TimeLimitUse& use = *job.mutable_time_limit_use();
  use.set_used_ms(use.used_ms() + CountedMs(*live, now));
}

void BeginPeriod(v1::Job& job) {
  v1::TimeLimitUse& use = *job.mutable_time_limit_use();
  use.clear_used_ms();
  use.clear_extended_ms();
  use.set_requeues(use.requeues() + 1);
  const int64_t last_step = job.attempts().empty() ? 0 : job.attempts().rbegin()->last_step();
  use.set_start_step(ProgressStep(job, last_step).value_or(0));
}

void ExtendTimeLimit(int64_t by_ms, Timestamp now, v1::Job& job) {
  v1::TimeLimitUse& use = *job.mutable_time_limit_use();
  use.set_extended_ms(use.extended_ms() + by_ms);
  const v1::Attempt* live = LiveAttempt(job);
  if (live == nullptr || !live->time_limit_warnings().current()) return;
  const bool is_far = RemainingTime(job, now).value_or(0) > WarningMs(job.spec()).value_or(0);
  v1::Attempt& newest = *job.mutable_attempts()->rbegin();
  if (is_far) newest.mutable_time_limit_warnings()->set_current(false);
}

}  // namespace trainyard::controller
