#include "controller/core/pause.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide.h"
#include "controller/core/failure_policy.h"
#include "controller/core/job_state_machine.h"
#include "controller/core/slot_ledger.h"
#include "controller/core/text.h"
#include "controller/core/user_event.h"
#include "controller/core/waiting_jobs.h"
#include "proto/contract/limits.h"
#include "proto/json/message_json.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

bool IsPausing(const v1::Job& job) { return job.state() == v1::JOB_STATE_PAUSING; }

// Ready to be resumed, now or once its ranks have left.
bool IsPaused(const v1::Job& job) { return IsPausing(job) || IsSetAside(job.state()); }

void SetPause(const v1::Event& event, v1::Job& job) {
  job.mutable_pause()->set_time_ms(event.time_ms());
  job.mutable_pause()->set_actor(event.actor());
  job.mutable_pause()->set_reason(event.job_paused().reason());
}

// End of the newest attempt, or the submission; 0 while the attempt lives.
Timestamp BeginOfWait(const v1::Job& job) {
  const int count = job.attempts_size();
  return count == 0 ? job.submitted_time_ms() : job.attempts(count - 1).ended_time_ms();
}

// Of the first pause of this wait; the ranks of a job that was paused have left by now.
void NotePauseBegin(v1::Job& job) {
  if (job.paused_from_ms() != 0) return;
  job.set_paused_from_ms(std::max(job.pause().time_ms(), BeginOfWait(job)));
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecidePause(const ClusterState& state,
                                                   const v1::PauseJobRequest& request,
                                                   Timestamp now) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("user name", request.user(), kMaxUserBytes));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const JobEntry& entry = state.jobs.at(job_id);
  const v1::Job& job = entry.job;
  if (HasEnded(job.state())) return EndedAlready(job);
  if (IsPaused(job)) return std::vector<v1::Event>();
  if (job.state() == v1::JOB_STATE_STOPPING) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " is being stopped and cannot be paused"));
  }
  if (HasFinished(entry)) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " has finished and ends in a moment"));
  }
  v1::Event event = UserEvent(request, now);
  event.mutable_job_paused()->set_job_id(job_id);
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> DecideResume(const ClusterState& state,
                                                    const v1::ResumeJobRequest& request,
                                                    Timestamp now) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("user name", request.user(), kMaxUserBytes));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const v1::Job& job = state.jobs.at(job_id).job;
  if (HasEnded(job.state())) return EndedAlready(job);
  if (!IsPaused(job)) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " is not paused: it is ", EnumText(job.state())));
  }
  v1::Event event = UserEvent(request, now);
  event.mutable_job_resumed()->set_job_id(job_id);
  return std::vector<v1::Event>{std::move(event)};
}

void TakePaused(const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(event.job_paused().job_id(), state);
  v1::Job& job = entry.job;
  SetPause(event, job);
  if (LiveAttempt(entry) == nullptr) return CompletePause(entry, state);
  v1::Attempt& attempt = *job.mutable_attempts()->rbegin();
  // An attempt that is being stopped after a failure keeps its reason, which decides whether there
  // is another.
  if (attempt.state() != v1::ATTEMPT_STATE_STOPPING) {
    StopAttempt(v1::STOP_REASON_PAUSED, event.time_ms(), attempt);
  }
  MoveJob(v1::JOB_STATE_PAUSING, job);
}

void TakeResumed(const v1::Event& event, ClusterState& state) {
  JobEntry& entry = EntryOf(event.job_resumed().job_id(), state);
  v1::Job& job = entry.job;
  EndPause(event.time_ms(), job);
  // The ranks of a job that was being paused leave first, and its slots stay its own.
  if (IsPausing(job)) return MoveJob(v1::JOB_STATE_RECOVERING, job);
  MoveJob(v1::JOB_STATE_QUEUED, job);
  RemoveWaiting(job.id(), state);
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
  RemoveWaiting(job.id(), state);
  if (newest != nullptr) ReleaseSlots(job.id(), *newest, state);
  AddWaiting(job, state);
}

void EndPause(Timestamp now, v1::Job& job) {
  const Timestamp begin = BeginOfWait(job);
  // 0: the attempt has not ended, and the pause has not begun.
  if (begin != 0) job.set_paused_ms(PausedMs(job, begin, now));
  job.clear_pause();
}

int64_t PausedMs(const v1::Job& job, Timestamp begin, Timestamp now) {
  if (!job.has_pause()) return job.paused_ms();
  const Timestamp since = std::max(job.pause().time_ms(), begin);
  return job.paused_ms() + std::max<int64_t>(0, now - since);
}

std::string PauseText(const JobEntry& entry) {
  const v1::Job& job = entry.job;
  const StartingPoint start = NextStartingPoint(job);
  std::string then = "it starts";
  if (start.step > 0) {
    then = absl::StrCat("it goes on from the checkpoint of step ", start.step);
  } else if (job.state() == v1::JOB_STATE_PAUSED) {
    then = "it has no checkpoint and starts again";
  }
  const std::string& reason = job.pause().reason();
  return absl::StrCat("is ", EnumText(job.state()), " by ", job.pause().actor(),
                      reason.empty() ? "" : absl::StrCat(" (", reason, ")"),
                      " and holds no slots; ", then, " when it is resumed");
}

}  // namespace trainyard::controller
