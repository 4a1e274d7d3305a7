#include "controller/core/state/jobs/job_state_machine.h"

#include "absl/strings/str_cat.h"
#include "controller/core/support/invariant.h"
#include "proto/jobspec/matrix/matrix.h"

namespace trainyard::controller {
namespace {

// Returns true if a job that is not an array would succeed without having run.
bool SkipsItsRun(v1::JobState to, const v1::Job& job) {
  return job.state() == v1::JOB_STATE_QUEUED && to == v1::JOB_STATE_SUCCEEDED &&
         !IsArray(job.spec());
}

}  // namespace

void MoveJob(v1::JobState to, v1::Job& job) {
  if (!CanMove(job.state(), to) || SkipsItsRun(to, job)) {
    DieOfBrokenInvariant(absl::StrCat("job ", job.id(), " cannot go from ",
                                      v1::JobState_Name(job.state()), " to ",
                                      v1::JobState_Name(to)));
  }
  job.set_state(to);
}

void MoveAttempt(v1::AttemptState to, v1::Attempt& attempt) {
  if (!CanMove(attempt.state(), to)) {
    DieOfBrokenInvariant(absl::StrCat("attempt ", attempt.number(), " cannot go from ",
                                      v1::AttemptState_Name(attempt.state()), " to ",
                                      v1::AttemptState_Name(to)));
  }
  attempt.set_state(to);
}

void StopAttempt(v1::StopReason reason, Timestamp now, JobEntry& entry, ClusterState& state) {
  v1::Attempt& attempt = *entry.job.mutable_attempts()->rbegin();
  attempt.set_stop_reason(reason);
  if (attempt.state() == v1::ATTEMPT_STATE_STOPPING) return;
  MoveAttempt(v1::ATTEMPT_STATE_STOPPING, attempt);
  attempt.set_stopping_time_ms(now);
  state.stopping_jobs.insert(entry.job.id());
}

}  // namespace trainyard::controller
