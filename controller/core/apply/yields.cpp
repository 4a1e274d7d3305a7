#include "controller/core/apply/yields.h"

#include "absl/strings/str_cat.h"
#include "controller/core/state/job_state_machine.h"
#include "controller/core/state/slot_ledger.h"
#include "controller/core/state/waiting_jobs.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {

void TakeYielded(const v1::Event& event, ClusterState& state) {
  const v1::AttemptYielded& yielded = event.attempt_yielded();
  JobEntry& entry = EntryOf(yielded.job_id(), state);
  const v1::Attempt* live = LiveAttempt(entry);
  Require(live != nullptr && live->number() == yielded.attempt(),
          absl::StrCat("job ", yielded.job_id(), " has no live attempt ", yielded.attempt()));
  v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
  *attempt.mutable_yield() = yielded.yield();
  StopAttempt(v1::STOP_REASON_YIELDED, event.time_ms(), attempt);
  MoveJob(v1::JOB_STATE_PAUSING, entry.job);
}

void CompleteYield(JobEntry& entry, ClusterState& state) {
  v1::Job& job = entry.job;
  const v1::Attempt& ended = *NewestAttempt(entry);
  MoveJob(v1::JOB_STATE_QUEUED, job);
  // From here on the job has no slots, so the ledger must not count the wait as a restart.
  job.set_paused_from_ms(ended.ended_time_ms());
  job.set_not_before_ms(0);
  ReleaseSlots(job.id(), ended, state);
  AddWaiting(job, state);
}

}  // namespace trainyard::controller
