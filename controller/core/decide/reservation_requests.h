// Requests to reserve nodes, and the ends of reservations.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_RESERVATION_REQUESTS_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_RESERVATION_REQUESTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns NodesReserved, or no event if the reservation exists. Errors: node_service.proto.
absl::StatusOr<std::vector<v1::Event>> DecideCreateReservation(
    const ClusterState& state, const v1::CreateReservationRequest& request,
    const Principal& principal, Timestamp now);

// Returns ReservationEnded. NOT_FOUND: no reservation has the name.
absl::StatusOr<std::vector<v1::Event>> DecideDeleteReservation(
    const ClusterState& state, const v1::DeleteReservationRequest& request,
    const Principal& principal, Timestamp now);

// Returns ReservationEnded for each reservation whose end has passed.
std::vector<v1::Event> ReservationEndsDue(const ClusterState& state, Timestamp now);

// Returns a sentence for each running job that may keep nodes of the reservation after its start,
// at most `most`.
std::vector<std::string> JobsInTheWay(const ClusterState& state,
                                      const v1::NodeReservation& reservation, Timestamp now,
                                      std::size_t most);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_RESERVATION_REQUESTS_H_
