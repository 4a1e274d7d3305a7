// The rows about the controller itself and the dashboard's sessions in the table of routes.
#ifndef TRAINYARD_CONTROLLER_HTTP_SERVER_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_SERVER_ROUTES_H_

#include <vector>

#include "controller/http/route.h"

namespace trainyard::controller::http {

std::vector<Route> ServerRoutes();
std::vector<Route> SessionRoutes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_SERVER_ROUTES_H_
