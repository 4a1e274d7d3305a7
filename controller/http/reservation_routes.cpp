#include "controller/http/reservation_routes.h"

#include "controller/http/route_parameters.h"

namespace trainyard::controller::http {

std::vector<Route> ReservationRoutes() {
  const Parameter name{.name = "reservation", .doc = "Name of the reservation.", .in_path = true};
  return {{.operation = Operation::kListReservations,
           .id = "listReservations",
           .method = "GET",
           .path = "/reservations",
           .summary = "Reservations of nodes, by their start.",
           .command_line = "trainyard reservation list",
           .response = "ListReservationsResponse"},
          {.operation = Operation::kCreateReservation,
           .id = "createReservation",
           .method = "POST",
           .path = "/reservations/{reservation}",
           .summary = "Reserves nodes for a time.",
           .command_line = "trainyard reservation create {reservation}",
           .parameters = {name},
           .request = "CreateReservationRequest",
           .response = "CreateReservationResponse"},
          {.operation = Operation::kDeleteReservation,
           .id = "deleteReservation",
           .method = "DELETE",
           .path = "/reservations/{reservation}",
           .summary = "Deletes a reservation of nodes.",
           .command_line = "trainyard reservation delete {reservation}",
           .parameters = {name, {.name = "user", .doc = "User who deletes the reservation."}},
           .response = "DeleteReservationResponse"}};
}

}  // namespace trainyard::controller::http
