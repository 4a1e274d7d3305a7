// Prevents web pages of other sites from using a controller that trusts all callers on its machine.
// Such a page can make its visitor's browser send requests to this controller, either directly or
// through a host name that resolves to the controller's address (DNS rebinding).
#ifndef TRAINYARD_CONTROLLER_HTTP_GUARD_H_
#define TRAINYARD_CONTROLLER_HTTP_GUARD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/http/exchange.h"

namespace trainyard::controller::http {

// Returns the host of "name:port" or "[::1]:port", without the port and in lower case.
std::string HostName(std::string_view host);

// Returns true for a host that cannot belong to another web site: an IP address, localhost, a name
// below localhost, or one of `own_names` (in lower case).
bool IsOwnHost(std::string_view host, const std::vector<std::string>& own_names);

// Returns `names` and the name of this machine, in lower case.
std::vector<std::string> WithMachineName(std::vector<std::string> names);

// Returns the code of the problem for which the request is refused. Empty if the request is
// allowed.
std::string WhyRefused(const Request& request, const std::vector<std::string>& own_names);

// Returns the response to a refused request; nullopt if the request is allowed.
std::optional<Response> Refusal(const Request& request, const std::vector<std::string>& own_names);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_GUARD_H_
