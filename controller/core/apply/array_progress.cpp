#include "controller/core/apply/array_progress.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/job_pause.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "controller/core/support/invariant.h"
#include "proto/jobspec/matrix/matrix.h"

namespace trainyard::controller {
namespace {

void CountEnd(v1::JobState state, v1::ArrayCounts& counts) {
  switch (state) {
    case v1::JOB_STATE_SUCCEEDED:
      return counts.set_succeeded(counts.succeeded() + 1);
    case v1::JOB_STATE_STOPPED:
      return counts.set_stopped(counts.stopped() + 1);
    default:
      return counts.set_failed(counts.failed() + 1);
  }
}

void CountCreated(int64_t index, v1::ArrayCounts& counts) {
  Require(index >= counts.created() && index < counts.elements(),
          absl::StrCat("element ", index, " of an array became a job twice, or does not exist"));
  counts.set_created(index + 1);
}

// Copies the losses of the newest attempt that has some: an attempt that failed in its start has
// none.
void CopyLosses(const v1::Job& job, v1::ArrayElement& element) {
  for (const v1::Attempt& attempt : job.attempts() | std::views::reverse) {
    if (!attempt.has_loss() && !attempt.has_validation_loss()) continue;
    if (attempt.has_loss()) element.set_loss(attempt.loss());
    if (attempt.has_validation_loss()) element.set_validation_loss(attempt.validation_loss());
    return;
  }
}

}  // namespace

void TakeElement(const v1::JobSubmitted& submitted, ClusterState& state) {
  v1::Job& job = EntryOf(submitted.job_id(), state).job;
  if (IsArray(job.spec())) {
    const absl::StatusOr<Matrix> matrix = Matrix::Of(job.spec());
    Require(matrix.ok(), "an array with an invalid matrix was submitted");
    job.mutable_array()->set_elements(matrix->size());
  }
  if (submitted.array_id() == 0) return;
  job.set_array_id(submitted.array_id());
  job.set_array_index(submitted.array_index());
  CountCreated(submitted.array_index(), *EntryOf(submitted.array_id(), state).job.mutable_array());
  IndexElement(job, state);
}

void EndElement(const v1::Job& ended, ClusterState& state) {
  if (ended.array_id() == 0) return;
  IndexElement(ended, state);
  const auto found = state.jobs.find(ended.array_id());
  if (found == state.jobs.end()) return;
  JobEntry& array = found->second;
  CountEnd(ended.state(), *array.job.mutable_array());
  v1::ArrayElement& element = array.elements.emplace_back();
  element.set_index(ended.array_index());
  element.set_job_id(ended.id());
  element.set_state(ended.state());
  if (ended.verdict().cause() == v1::VERDICT_CAUSE_HALVED) {
    array.job.mutable_array()->set_halved(array.job.array().halved() + 1);
    element.set_reason(ended.verdict().summary());
  }
  if (ended.attempts().empty()) return;
  element.set_step(ended.attempts().rbegin()->last_step());
  CopyLosses(ended, element);
}

void TakeRefused(const v1::ArrayElementRefused& refused, ClusterState& state) {
  JobEntry& array = EntryOf(refused.job_id(), state);
  CountCreated(refused.index(), *array.job.mutable_array());
  CountEnd(v1::JOB_STATE_FAILED, *array.job.mutable_array());
  v1::ArrayElement& element = array.elements.emplace_back();
  element.set_index(refused.index());
  element.set_state(v1::JOB_STATE_FAILED);
  element.set_reason(refused.reason());
}

void TakeHalved(const v1::ArrayHalved& halved, ClusterState& state) {
  EntryOf(halved.job_id(), state).rungs.push_back(halved.rung());
  v1::Job& element = EntryOf(halved.element_id(), state).job;
  element.set_array_rungs(element.array_rungs() + 1);
}

void TakeArrayStop(const v1::Event& event, ClusterState& state) {
  JobEntry& array = EntryOf(event.job_stop_requested().job_id(), state);
  array.stop_requested = true;
  if (event.job_stop_requested().kill()) array.kill_requested = true;
  v1::Job& job = array.job;
  EndPause(event.time_ms(), job);
  RemoveWaiting(job, state);
  if (job.state() == v1::JOB_STATE_HELD) MoveJob(v1::JOB_STATE_QUEUED, job);
  AddWaiting(job, state);
}

}  // namespace trainyard::controller
