// The only functions that change the state.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies an event. Equal events in the same order produce equal states. An event that breaks a
// rule of the job state machine is a bug, and the process ends.
void Apply(const v1::Event& event, ClusterState& state);

// Works like Apply, but is cheaper: moves the spec of a submitted job out of the event into the
// state instead of copying it.
void ApplyTakingSpec(v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_H_
