// Indexes of the jobs that have not ended and have no live attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_WAITING_JOBS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_WAITING_JOBS_H_

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Adds the job to the index for its state: the queue, the index of jobs that wait for other jobs,
// or the index of paused and held jobs. If the job is recovering, reserves the slots of its newest
// attempt.
void AddWaiting(const v1::Job& job, ClusterState& state);

// Removes the job from the indexes of waiting jobs, and removes its reservation.
void RemoveWaiting(const v1::Job& job, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_WAITING_JOBS_H_
