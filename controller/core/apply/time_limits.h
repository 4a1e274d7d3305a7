// Applies the events of time limits to the state (state/time_limit.h).
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_TIME_LIMITS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_TIME_LIMITS_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies TimeLimitWarned or TimeLimitReached. The attempt must be live.
void ApplyToTimeLimit(const v1::Event& event, ClusterState& state);

// Applies JobExtended.
void TakeExtended(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_TIME_LIMITS_H_
