#include "controller/core/state/prerequisites.h"

#include <algorithm>

#include "proto/support/job_state.h"

namespace trainyard::controller {

bool IsDependent(const v1::Job& job) {
  return std::ranges::any_of(job.after(), [](const v1::Prerequisite& prerequisite) {
    return prerequisite.outcome() != v1::JOB_STATE_SUCCEEDED;
  });
}

const v1::Prerequisite* FailedPrerequisite(const v1::Job& job) {
  for (const v1::Prerequisite& prerequisite : job.after()) {
    const bool failed =
        HasEnded(prerequisite.outcome()) && prerequisite.outcome() != v1::JOB_STATE_SUCCEEDED;
    if (failed) return &prerequisite;
  }
  return nullptr;
}

void AddDependencies(const v1::Job& job, ClusterState& state) {
  for (const v1::Prerequisite& prerequisite : job.after()) {
    if (HasEnded(prerequisite.outcome())) continue;
    state.dependents[prerequisite.job_id()].insert(job.id());
  }
  if (FailedPrerequisite(job) != nullptr) state.unsatisfiable_jobs.insert(job.id());
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
