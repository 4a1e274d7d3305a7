// Explains a wait that is caused by reservations of nodes.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_RESERVATION_REASON_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_RESERVATION_REASON_H_

#include <string>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns, for example, "; gpu01 and gpu02 have enough free slots, but are reserved (maint, from in
// 2 h to in 4 h)", or "" if no reservation keeps the job from a node with enough free slots.
std::string ReservationText(const ClusterState& state, const JobEntry& entry,
                            const GangShape& shape, Timestamp now);

// Returns what the user can do about these reservations, or "" if there are none.
std::string ReservationAdvice(const ClusterState& state, const JobEntry& entry,
                              const GangShape& shape, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_RESERVATION_REASON_H_
