// Indexes of jobs that have not ended and have no live attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_WAITING_JOBS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_WAITING_JOBS_H_

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Adds the job to the indexes of its state: the queue, or the paused and held jobs.
void AddWaiting(const v1::Job& job, ClusterState& state);

// Removes the job from all these indexes.
void RemoveWaiting(const v1::Job& job, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_WAITING_JOBS_H_
