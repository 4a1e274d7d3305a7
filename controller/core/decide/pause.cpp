#include "controller/core/decide/pause.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_kind.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Explains why a job that yields its slots cannot be resumed.
absl::Status YieldsAlready(const JobEntry& entry) {
  return absl::FailedPreconditionError(
      absl::StrCat(JobText(entry.job), " is not paused: it yields its slots, because ",
                   LiveAttempt(entry)->yield().reason(), ", and then returns to the queue"));
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecidePause(const ClusterState& state,
                                                   const v1::PauseJobRequest& request,
                                                   const Principal& principal, Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const JobEntry& entry = state.jobs.at(job_id);
  const v1::Job& job = entry.job;
  if (HasEnded(job.state())) return EndedAlready(job);
  if (job.has_pause()) return std::vector<v1::Event>();
  if (job.state() == v1::JOB_STATE_STOPPING || (IsArray(job.spec()) && entry.stop_requested)) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " is being stopped and cannot be paused"));
  }
  if (HasFinished(entry)) {
    return absl::FailedPreconditionError(absl::StrCat(
        JobText(job),
        " cannot be paused, because all its ranks have exited and the job is about to end"));
  }
  v1::Event event = EventBy(principal, now);
  event.mutable_job_paused()->set_job_id(job_id);
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> DecideResume(const ClusterState& state,
                                                    const v1::ResumeJobRequest& request,
                                                    const Principal& principal, Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const JobEntry& entry = state.jobs.at(job_id);
  const v1::Job& job = entry.job;
  if (HasEnded(job.state())) return EndedAlready(job);
  if (!job.has_pause()) {
    if (job.state() == v1::JOB_STATE_PAUSING) return YieldsAlready(entry);
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " is not paused: it is ", EnumText(job.state())));
  }
  v1::Event event = EventBy(principal, now);
  event.mutable_job_resumed()->set_job_id(job_id);
  return std::vector<v1::Event>{std::move(event)};
}

std::string PauseText(const JobEntry& entry) {
  const v1::Job& job = entry.job;
  const StartingPoint start = NextStartingPoint(job);
  std::string then = " and starts";
  if (start.step > 0) {
    then = absl::StrCat(" and continues from the checkpoint of step ", start.step);
  } else if (job.state() == v1::JOB_STATE_PAUSED) {
    then = ProgramRulesOf(job.spec()).saves ? ", has no checkpoint and starts over"
                                            : " and continues where it stopped";
  }
  const std::string& reason = job.pause().reason();
  return absl::StrCat(EnumText(job.state()), " by ", job.pause().actor(),
                      reason.empty() ? "" : absl::StrCat(" (", reason, ")"), "; it uses no slots",
                      then, " when it is resumed");
}

}  // namespace trainyard::controller
