// Ended jobs that leave the state: archived or deleted.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ENDED_JOBS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ENDED_JOBS_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies the event: the job leaves the state.
void TakeArchived(const v1::JobArchived& archived, Timestamp now, ClusterState& state);

// Entry of a job that the archive returns.
JobEntry FromArchived(v1::ArchivedJob archived);

// Takes a job that has ended out of the state, where an archived one is not; Apply's part.
void ForgetJob(int64_t job_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ENDED_JOBS_H_
