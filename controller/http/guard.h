// Keeps web pages of other sites away from a controller that trusts its own machine. A web page can
// make its visitor's browser send requests to this controller, directly or through a host name that
// resolves to this address (DNS rebinding).
#ifndef TRAINYARD_CONTROLLER_HTTP_GUARD_H_
#define TRAINYARD_CONTROLLER_HTTP_GUARD_H_

#include <string>
#include <string_view>
#include <vector>

#include "controller/http/exchange.h"

namespace trainyard::controller::http {

// The name of "name:port" or "[::1]:port", without the port, in lower case.
std::string HostName(std::string_view host);

// True for a host that no other web site can have: an address, localhost, a name below it, or one
// of `own_names` (lower case).
bool IsOwnHost(std::string_view host, const std::vector<std::string>& own_names);

// Problem code with which the request is refused, or "" if it is allowed.
std::string WhyRefused(const Request& request, const std::vector<std::string>& own_names);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_GUARD_H_
