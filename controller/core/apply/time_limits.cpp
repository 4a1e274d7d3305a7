#include "controller/core/apply/time_limits.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {
namespace {

void RequireLimited(int64_t attempt_number, const JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  Require(live != nullptr && live->number() == attempt_number,
          absl::StrCat("job ", entry.job.id(), " has no live attempt ", attempt_number));
}

}  // namespace

void ApplyToTimeLimit(const v1::Event& event, ClusterState& state) {
  if (event.has_time_limit_warned()) {
    const v1::TimeLimitWarned& warned = event.time_limit_warned();
    JobEntry& entry = EntryOf(warned.job_id(), state);
    RequireLimited(warned.attempt(), entry);
    v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
    v1::TimeLimitWarnings& warnings = *attempt.mutable_time_limit_warnings();
    warnings.set_number(warnings.number() + 1);
    warnings.set_current(true);
    return;
  }
  const v1::TimeLimitReached& reached = event.time_limit_reached();
  JobEntry& entry = EntryOf(reached.job_id(), state);
  RequireLimited(reached.attempt(), entry);
  StopAttempt(v1::STOP_REASON_TIME_LIMIT, event.time_ms(), entry, state);
  MoveJob(v1::JOB_STATE_STOPPING, entry.job);
}

void TakeExtended(const v1::Event& event, ClusterState& state) {
  const v1::JobExtended& extended = event.job_extended();
  v1::Job& job = EntryOf(extended.job_id(), state).job;
  // The class of a waiting job depends on its limit.
  const bool waits = state.pending_jobs.Contains(QueueKeyOf(job));
  if (waits) RemoveWaiting(job, state);
  ExtendTimeLimit(extended.by_ms(), event.time_ms(), job);
  if (waits) AddWaiting(job, state);
}

}  // namespace trainyard::controller
