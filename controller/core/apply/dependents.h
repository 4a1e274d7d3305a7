// Effect of the end of a job on the jobs that name it in `after`.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_DEPENDENTS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_DEPENDENTS_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Records the outcome of the ended job in the waiting jobs that name it. A queued job whose
// prerequisites have all succeeded enters the queue, at the place of its number.
void SettleDependents(const v1::Job& ended, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_DEPENDENTS_H_
