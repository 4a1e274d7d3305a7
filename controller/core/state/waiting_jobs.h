// Indexes of the jobs that have not ended and have no live attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_WAITING_JOBS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_WAITING_JOBS_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Puts such a job into the indexes of its state: the queue, or the jobs that users keep out of it.
void AddWaiting(const v1::Job& job, ClusterState& state);

// Takes the job out of all of them.
void RemoveWaiting(int64_t job_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_WAITING_JOBS_H_
