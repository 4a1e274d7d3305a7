// Applies yields to the state: attempts that save and exit because the controller needs their slots
// (state/yield.h).
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_YIELDS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_YIELDS_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies AttemptYielded.
void TakeYielded(const v1::Event& event, ClusterState& state);

// Completes a yield after the last rank of the job is gone: frees the job's slots and returns the
// job to its place in the queue. An elastic job that keeps nodes (Yield.kept_nodes) recovers
// instead.
void CompleteYield(JobEntry& entry, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_YIELDS_H_
