// Routes about reservations of nodes.
#ifndef TRAINYARD_CONTROLLER_HTTP_RESERVATION_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_RESERVATION_ROUTES_H_

#include <vector>

#include "controller/http/route.h"

namespace trainyard::controller::http {

std::vector<Route> ReservationRoutes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_RESERVATION_ROUTES_H_
