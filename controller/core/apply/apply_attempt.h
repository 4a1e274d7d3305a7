// Applies placements and events about attempts and their ranks to the state.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_ATTEMPT_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_ATTEMPT_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies a JobPlaced, RankStarted, RankExited or Attempt... event. Used only by Apply.
void ApplyToAttempt(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_ATTEMPT_H_
