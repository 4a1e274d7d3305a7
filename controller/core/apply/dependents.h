// Effects of a job's end and of its checkpoints on the jobs that name it in `after`.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_DEPENDENTS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_DEPENDENTS_H_

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Both functions change the waiting jobs that name the job. A queued job enters the queue, at the
// place of its number, when all its conditions are met.

// Records the outcome of the ended job.
void SettleDependents(const v1::Job& ended, ClusterState& state);

// Records the job's newest checkpoint in the conditions that it meets.
void SettleByCheckpoint(const v1::Job& job, Timestamp now, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_DEPENDENTS_H_
