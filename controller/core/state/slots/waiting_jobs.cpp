#include "controller/core/state/slots/waiting_jobs.h"

#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/reservations.h"
#include "proto/jobspec/matrix/matrix.h"

namespace trainyard::controller {

void AddWaiting(const v1::Job& job, ClusterState& state) {
  AddDependencies(job, state);
  if (IsPausedOrHeld(job.state())) {
    state.paused_jobs.insert(job.id());
    return;
  }
  if (IsDependent(job)) {
    state.dependent_jobs.insert(job.id());
    return;
  }
  if (IsArray(job.spec())) {
    state.open_arrays.insert(job.id());
    return;
  }
  state.pending_jobs.Insert(QueueKeyOf(job));
  state.pending_classes[ClassOf(job)].insert(job.id());
  if (job.state() == v1::JOB_STATE_RECOVERING) Reserve(job, state);
  if (job.spec().auto_layout()) state.pending_auto_jobs.insert(job.id());
}

void RemoveWaiting(const v1::Job& job, ClusterState& state) {
  state.open_arrays.erase(job.id());
  state.pending_jobs.Remove(QueueKeyOf(job));
  const auto its_class = state.pending_classes.find(ClassOf(job));
  if (its_class != state.pending_classes.end()) {
    its_class->second.erase(job.id());
    if (its_class->second.empty()) state.pending_classes.erase(its_class);
  }
  state.reservations.erase(job.id());
  state.pending_auto_jobs.erase(job.id());
  state.paused_jobs.erase(job.id());
  state.dependent_jobs.erase(job.id());
  RemoveDependencies(job, state);
}

}  // namespace trainyard::controller
