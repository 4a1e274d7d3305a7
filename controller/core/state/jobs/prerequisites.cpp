#include "controller/core/state/jobs/prerequisites.h"

#include <algorithm>

#include "proto/support/job_state.h"

namespace trainyard::controller {

v1::JobCondition ConditionOf(const v1::Prerequisite& prerequisite) {
  const v1::JobCondition condition = prerequisite.condition();
  return condition == v1::JOB_CONDITION_UNSPECIFIED ? v1::JOB_CONDITION_SUCCESS : condition;
}

bool IsMet(const v1::Prerequisite& prerequisite) {
  switch (ConditionOf(prerequisite)) {
    case v1::JOB_CONDITION_FAILURE:
      return prerequisite.outcome() == v1::JOB_STATE_FAILED;
    case v1::JOB_CONDITION_END:
      return HasEnded(prerequisite.outcome());
    case v1::JOB_CONDITION_CHECKPOINT:
      return prerequisite.has_checkpoint_step();
    default:
      return prerequisite.outcome() == v1::JOB_STATE_SUCCEEDED;
  }
}

bool EndedUnmet(const v1::Prerequisite& prerequisite) {
  return HasEnded(prerequisite.outcome()) && !IsMet(prerequisite);
}

Timestamp MetTime(const v1::Prerequisite& prerequisite) {
  if (!IsMet(prerequisite)) return 0;
  return ConditionOf(prerequisite) == v1::JOB_CONDITION_CHECKPOINT
             ? prerequisite.checkpoint_time_ms()
             : prerequisite.ended_time_ms();
}

bool IsDependent(const v1::Job& job) { return !std::ranges::all_of(job.after(), IsMet); }

bool MeetByCheckpoint(const v1::Checkpoint& checkpoint, v1::Prerequisite& prerequisite) {
  const bool waits =
      ConditionOf(prerequisite) == v1::JOB_CONDITION_CHECKPOINT && !IsMet(prerequisite);
  const bool is_sound = !checkpoint.damaged() && !checkpoint.rolled_back() && !checkpoint.deleted();
  if (!waits || !is_sound || checkpoint.step() < prerequisite.step()) return false;
  prerequisite.set_checkpoint_step(checkpoint.step());
  return true;
}

void AddDependencies(const v1::Job& job, ClusterState& state) {
  for (const v1::Prerequisite& prerequisite : job.after()) {
    const bool may_change =
        !IsMet(prerequisite) && (!HasEnded(prerequisite.outcome()) ||
                                 ConditionOf(prerequisite) == v1::JOB_CONDITION_CHECKPOINT);
    if (may_change) state.dependents[prerequisite.job_id()].insert(job.id());
  }
  if (std::ranges::any_of(job.after(), EndedUnmet)) state.unsatisfiable_jobs.insert(job.id());
}

void RemoveDependencies(const v1::Job& job, ClusterState& state) {
  for (const v1::Prerequisite& prerequisite : job.after()) {
    const auto found = state.dependents.find(prerequisite.job_id());
    if (found == state.dependents.end()) continue;
    found->second.erase(job.id());
    if (found->second.empty()) state.dependents.erase(found);
  }
  state.unsatisfiable_jobs.erase(job.id());
}

}  // namespace trainyard::controller
