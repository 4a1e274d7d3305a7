// Removes archived and deleted jobs from the state.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_ENDED_JOBS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_ENDED_JOBS_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies JobArchived: removes the job from the state.
void TakeArchived(const v1::JobArchived& archived, Timestamp now, ClusterState& state);

// Removes a deleted job from the state. Does nothing if the job is archived, because archived jobs
// are not in the state. Part of Apply.
void ForgetJob(int64_t job_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_ENDED_JOBS_H_
