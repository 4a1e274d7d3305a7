#include "controller/core/verdict/dependency_failure.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/late_reports.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

std::string OutcomeText(const v1::Prerequisite& prerequisite) {
  switch (prerequisite.outcome()) {
    case v1::JOB_STATE_SUCCEEDED:
      return "succeeded";
    case v1::JOB_STATE_STOPPED:
      return "was stopped";
    default:
      return "failed";
  }
}

v1::Verdict DependencyVerdict(const v1::Prerequisite& prerequisite, Timestamp now) {
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_DEPENDENCY_FAILED);
  verdict.set_rank(-1);
  verdict.set_time_ms(now);
  verdict.set_summary(absl::StrCat("never started: ", PrerequisiteText(prerequisite), " ",
                                   OutcomeText(prerequisite), ", and `after` requires its ",
                                   ConditionText(prerequisite), "; `trainyard why ",
                                   prerequisite.job_id(), "` explains that job"));
  return verdict;
}

}  // namespace

std::vector<v1::Event> DependencyFailuresDue(const ClusterState& state,
                                             const Observations& observations,
                                             const CoreOptions& options, Timestamp now) {
  const auto is_impossible = [&](const v1::Prerequisite& prerequisite) {
    if (!EndedUnmet(prerequisite)) return false;
    if (ConditionOf(prerequisite) != v1::JOB_CONDITION_CHECKPOINT) return true;
    const JobEntry* named = FindEntry(state, prerequisite.job_id());
    return named == nullptr || !MayReportCheckpoints(*named, observations, options, now);
  };
  std::vector<v1::Event> events;
  for (const int64_t id : state.unsatisfiable_jobs) {
    const v1::Job& job = state.jobs.at(id).job;
    const auto impossible = std::ranges::find_if(job.after(), is_impossible);
    if (impossible == job.after().end()) continue;
    v1::JobEnded& ended = *events.emplace_back(ControllerEvent(now)).mutable_job_ended();
    ended.set_job_id(id);
    ended.set_state(v1::JOB_STATE_FAILED);
    *ended.mutable_verdict() = DependencyVerdict(*impossible, now);
  }
  return events;
}

}  // namespace trainyard::controller
