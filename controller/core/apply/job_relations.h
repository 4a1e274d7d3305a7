// Applies the relations between jobs: from which other jobs a job was resumed or cloned.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_JOB_RELATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_JOB_RELATIONS_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Maximum number of children that a job lists; the newest are kept.
inline constexpr int kChildrenKept = 100;

// Adds the relations of a submitted job to the job and to its parents in the state.
void AddRelations(const v1::JobSubmitted& submitted, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_JOB_RELATIONS_H_
