#include "controller/core/decide/extension.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

absl::Status CheckDuration(const v1::Job& job, const google::protobuf::Duration& by) {
  const bool is_positive = by.seconds() > 0 || (by.seconds() == 0 && by.nanos() >= 1'000'000);
  if (!is_positive || by.nanos() < 0) {
    return absl::InvalidArgumentError(
        "the time to add must be at least 1 ms; a time limit cannot be shortened");
  }
  // The comparison in seconds cannot overflow.
  const int64_t most_ms = kLongestTimeLimitMs - TimeLimitMs(job).value_or(0);
  if (by.seconds() > most_ms / 1000 || ToMs(by) > most_ms) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a time limit may have at most ", DurationText(kLongestTimeLimitMs), "; at most ",
        DurationText(most_ms), " can be added to the time limit of ", JobText(job)));
  }
  return absl::OkStatus();
}

// Returns true if the extension comes too late for the live attempt.
bool IsEnding(const JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  const bool at_limit = live != nullptr && (live->stop_reason() == v1::STOP_REASON_TIME_LIMIT ||
                                            live->yield().cause() == v1::YIELD_CAUSE_TIME_LIMIT);
  return at_limit || entry.job.state() == v1::JOB_STATE_STOPPING || HasFinished(entry);
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideExtension(const ClusterState& state,
                                                       const v1::ExtendJobRequest& request,
                                                       const Principal& principal, Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const JobEntry& entry = state.jobs.at(job_id);
  const v1::Job& job = entry.job;
  if (HasEnded(job.state())) return EndedAlready(job);
  if (IsArray(job.spec())) {
    return absl::FailedPreconditionError(absl::StrCat(
        JobText(job), " is an array, and each of its elements has its own time limit; extend ",
        "an element, such as ", ElementName(job.name(), 0)));
  }
  if (!job.spec().has_time_limit()) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " has no time limit, so there is nothing to extend"));
  }
  if (IsEnding(entry)) {
    return absl::FailedPreconditionError(absl::StrCat(
        JobText(job), " cannot be extended, because its ranks have exited or were asked to exit"));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckDuration(job, request.by()));
  const int64_t extended_ms = job.time_limit_use().extended_ms();
  if (request.has_extended_ms() && request.extended_ms() != extended_ms) {
    return absl::AbortedError(absl::StrCat("the time limit of ", JobText(job),
                                           " was changed by another request; it is now ",
                                           DurationText(TimeLimitMs(job).value_or(0)),
                                           ". Check it, and repeat the command if needed"));
  }
  v1::Event event = EventBy(principal, now);
  event.mutable_job_extended()->set_job_id(job_id);
  event.mutable_job_extended()->set_by_ms(ToMs(request.by()));
  return std::vector<v1::Event>{std::move(event)};
}

}  // namespace trainyard::controller
