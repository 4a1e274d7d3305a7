// The rows about the topology in the table of routes.
#ifndef TRAINYARD_CONTROLLER_HTTP_TOPOLOGY_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_TOPOLOGY_ROUTES_H_

#include <vector>

#include "controller/http/route.h"

namespace trainyard::controller::http {

std::vector<Route> TopologyRoutes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_TOPOLOGY_ROUTES_H_
