// The route table. The router, openapi.json and the tests are all derived from this table.
#ifndef TRAINYARD_CONTROLLER_HTTP_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_ROUTES_H_

#include <vector>

#include "controller/http/route.h"

namespace trainyard::controller::http {

// Returns the routes in the order of the OpenAPI document.
const std::vector<Route>& Routes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ROUTES_H_
