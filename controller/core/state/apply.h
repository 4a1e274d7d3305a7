// The only function that changes the state.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_APPLY_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_APPLY_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies an event. The same events in the same order give the same state. An event that breaks a
// rule of the job state machine is a bug: the process ends.
void Apply(const v1::Event& event, ClusterState& state);

// The same, at less cost: the spec of a submitted job is moved to the state, and the event is left
// without it.
void ApplyTakingSpec(v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_APPLY_H_
