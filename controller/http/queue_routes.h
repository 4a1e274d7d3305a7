// The routes about queues and the order of waiting jobs.
#ifndef TRAINYARD_CONTROLLER_HTTP_QUEUE_ROUTES_H_
#define TRAINYARD_CONTROLLER_HTTP_QUEUE_ROUTES_H_

#include <vector>

#include "controller/http/route.h"

namespace trainyard::controller::http {

std::vector<Route> QueueRoutes();

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_QUEUE_ROUTES_H_
