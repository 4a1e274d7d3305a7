#include "controller/core/state/waiting_jobs.h"

#include "controller/core/state/job_state_machine.h"

namespace trainyard::controller {

void AddWaiting(const v1::Job& job, ClusterState& state) {
  if (IsPausedOrHeld(job.state())) {
    state.paused_jobs.insert(job.id());
    return;
  }
  state.pending_jobs.insert(job.id());
  if (job.state() == v1::JOB_STATE_RECOVERING) state.recovering_jobs.insert(job.id());
  if (job.spec().auto_layout()) state.pending_auto_jobs.insert(job.id());
}

void RemoveWaiting(int64_t job_id, ClusterState& state) {
  state.pending_jobs.erase(job_id);
  state.recovering_jobs.erase(job_id);
  state.pending_auto_jobs.erase(job_id);
  state.paused_jobs.erase(job_id);
}

}  // namespace trainyard::controller
