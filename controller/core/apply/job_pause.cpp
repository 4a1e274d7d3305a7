#include "controller/core/apply/job_pause.h"

#include <algorithm>

#include "controller/core/ledger/paused_time.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/state/slots/waiting_jobs.h"

namespace trainyard::controller {
namespace {

void SetPause(const v1::Event& event, v1::Job& job) {
  job.mutable_pause()->set_time_ms(event.time_ms());
  job.mutable_pause()->set_actor(event.actor());
  job.mutable_pause()->set_reason(event.job_paused().reason());
}

// Returns the end of the newest attempt or, before the first attempt, the submission time. Returns
// 0 while an attempt is live.
Timestamp BeginOfWait(const v1::Job& job) {
  const int count = job.attempts_size();
  return count == 0 ? job.submitted_time_ms() : job.attempts(count - 1).ended_time_ms();
}

// Records the start of the first pause since the newest attempt. No rank of the job exists at this
// point.
void NotePauseBegin(v1::Job& job) {
  if (job.paused_from_ms() != 0) return;
  job.set_paused_from_ms(std::max(job.pause().time_ms(), BeginOfWait(job)));
}

}  // namespace

void TakePaused(const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(event.job_paused().job_id(), state);
  v1::Job& job = entry.job;
  SetPause(event, job);
  if (LiveAttempt(entry) == nullptr) return CompletePause(entry, state);
  const v1::Attempt& attempt = *job.attempts().rbegin();
  // An attempt that was already stopping because of a failure keeps its stop reason, which
  // determines whether another attempt follows.
  if (attempt.state() != v1::ATTEMPT_STATE_STOPPING) {
    StopAttempt(v1::STOP_REASON_PAUSED, event.time_ms(), entry, state);
  }
  // A job that yields its slots is pausing already.
  if (job.state() != v1::JOB_STATE_PAUSING) MoveJob(v1::JOB_STATE_PAUSING, job);
}

void TakeResumed(const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(event.job_resumed().job_id(), state);
  v1::Job& job = entry.job;
  EndPause(event.time_ms(), job);
  // The ranks of a pausing job must exit first. The job keeps its slots, unless it yields them.
  if (job.state() == v1::JOB_STATE_PAUSING) {
    if (NewestAttempt(entry)->has_yield()) return;
    return MoveJob(v1::JOB_STATE_RECOVERING, job);
  }
  MoveJob(v1::JOB_STATE_QUEUED, job);
  RemoveWaiting(job, state);
  AddWaiting(job, state);
}

void Hold(const v1::Event& submitted, v1::Job& job) {
  MoveJob(v1::JOB_STATE_HELD, job);
  SetPause(submitted, job);
  NotePauseBegin(job);
}

void CompletePause(JobEntry& entry, ClusterState& state) {
  v1::Job& job = entry.job;
  const v1::Attempt* newest = NewestAttempt(entry);
  MoveJob(newest == nullptr ? v1::JOB_STATE_HELD : v1::JOB_STATE_PAUSED, job);
  NotePauseBegin(job);
  job.set_not_before_ms(0);
  RemoveWaiting(job, state);
  job.clear_preempts();
  if (newest != nullptr) ReleaseSlots(job.id(), *newest, state);
  AddWaiting(job, state);
}

void EndPause(Timestamp now, v1::Job& job) {
  const Timestamp begin = BeginOfWait(job);
  // `begin` is 0 while the attempt has not ended. In that case the pause has not begun yet.
  if (begin != 0) job.set_paused_ms(PausedMs(job, begin, now));
  job.clear_pause();
}

}  // namespace trainyard::controller
