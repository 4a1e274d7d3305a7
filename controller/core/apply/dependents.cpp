#include "controller/core/apply/dependents.h"

#include <set>

#include "controller/core/state/waiting_jobs.h"

namespace trainyard::controller {

void SettleDependents(const v1::Job& ended, ClusterState& state) {
  const auto found = state.dependents.find(ended.id());
  if (found == state.dependents.end()) return;
  // A copy, because RemoveWaiting changes the index.
  const std::set<int64_t> waiting = found->second;
  for (const int64_t id : waiting) {
    v1::Job& job = EntryOf(id, state).job;
    RemoveWaiting(job, state);
    for (v1::Prerequisite& prerequisite : *job.mutable_after()) {
      if (prerequisite.job_id() != ended.id()) continue;
      prerequisite.set_outcome(ended.state());
      prerequisite.set_ended_time_ms(ended.ended_time_ms());
    }
    AddWaiting(job, state);
  }
}

}  // namespace trainyard::controller
