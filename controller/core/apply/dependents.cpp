#include "controller/core/apply/dependents.h"

#include <functional>
#include <set>

#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/state/slots/waiting_jobs.h"

namespace trainyard::controller {
namespace {

// Calls `change` for each prerequisite on this job of each waiting job.
void ChangeDependents(int64_t job_id, const std::function<void(v1::Prerequisite&)>& change,
                      ClusterState& state) {
  const auto found = state.dependents.find(job_id);
  if (found == state.dependents.end()) return;
  // A copy, because RemoveWaiting changes the index.
  const std::set<int64_t> waiting = found->second;
  for (const int64_t id : waiting) {
    v1::Job& job = EntryOf(id, state).job;
    RemoveWaiting(job, state);
    for (v1::Prerequisite& prerequisite : *job.mutable_after()) {
      if (prerequisite.job_id() == job_id) change(prerequisite);
    }
    AddWaiting(job, state);
  }
}

}  // namespace

void SettleDependents(const v1::Job& ended, ClusterState& state) {
  const auto change = [&](v1::Prerequisite& prerequisite) {
    prerequisite.set_outcome(ended.state());
    prerequisite.set_ended_time_ms(ended.ended_time_ms());
  };
  ChangeDependents(ended.id(), change, state);
}

void SettleByCheckpoint(const v1::Job& job, Timestamp now, ClusterState& state) {
  const v1::Checkpoint& newest = *job.checkpoints().rbegin();
  const auto change = [&](v1::Prerequisite& prerequisite) {
    if (MeetByCheckpoint(newest, prerequisite)) prerequisite.set_checkpoint_time_ms(now);
  };
  ChangeDependents(job.id(), change, state);
}

}  // namespace trainyard::controller
