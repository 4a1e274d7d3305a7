// Effects of the events about heals on the state: places change hands.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_HEALS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_HEALS_H_

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Standbys take the places of members, and the attempt gets its new rendezvous.
void TakeHealing(const v1::AttemptHealing& healing, Timestamp now, ClusterState& state);

// The newest heal has come to a step.
void TakeHealed(const v1::AttemptHealed& healed, Timestamp now, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_HEALS_H_
