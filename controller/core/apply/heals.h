// Applies heal events to the state: assigns places to other members.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_HEALS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_HEALS_H_

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Assigns places to standbys and sets the attempt's new rendezvous.
void TakeHealing(const v1::AttemptHealing& healing, Timestamp now, ClusterState& state);

// Ends the newest heal, because the gang has completed a step.
void TakeHealed(const v1::AttemptHealed& healed, Timestamp now, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_HEALS_H_
