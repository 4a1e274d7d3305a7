// The rule of reservations of nodes, restated from the documentation.
#ifndef TRAINYARD_TESTS_SIMULATION_CHECKERS_RESERVATION_MODEL_H_
#define TRAINYARD_TESTS_SIMULATION_CHECKERS_RESERVATION_MODEL_H_

#include <string>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::simulation {

// Returns the name of a reservation because of which the job must not start on the node at this
// time, or "" if it may start. `entry`: the job before it starts.
std::string ReservationAgainst(const controller::ClusterState& state,
                               const controller::JobEntry& entry, const std::string& node,
                               Timestamp now);

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_CHECKERS_RESERVATION_MODEL_H_
