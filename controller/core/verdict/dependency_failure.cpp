#include "controller/core/verdict/dependency_failure.h"

#include "absl/strings/str_cat.h"
#include "controller/core/state/prerequisites.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

v1::Verdict DependencyVerdict(const v1::Prerequisite& prerequisite, Timestamp now) {
  const bool stopped = prerequisite.outcome() == v1::JOB_STATE_STOPPED;
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_DEPENDENCY_FAILED);
  verdict.set_rank(-1);
  verdict.set_time_ms(now);
  verdict.set_summary(absl::StrCat("never started: ", PrerequisiteText(prerequisite),
                                   stopped ? " was stopped" : " failed",
                                   ", and `after` requires its success; `trainyard why ",
                                   prerequisite.job_id(), "` explains that job"));
  return verdict;
}

}  // namespace

std::vector<v1::Event> DependencyFailuresDue(const ClusterState& state, Timestamp now) {
  std::vector<v1::Event> events;
  for (const int64_t id : state.unsatisfiable_jobs) {
    const v1::Job& job = state.jobs.at(id).job;
    v1::JobEnded& ended = *events.emplace_back(ControllerEvent(now)).mutable_job_ended();
    ended.set_job_id(id);
    ended.set_state(v1::JOB_STATE_FAILED);
    *ended.mutable_verdict() = DependencyVerdict(*FailedPrerequisite(job), now);
  }
  return events;
}

}  // namespace trainyard::controller
