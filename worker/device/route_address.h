// Finds the address at which peers can reach this machine.
#ifndef TRAINYARD_WORKER_DEVICE_ROUTE_ADDRESS_H_
#define TRAINYARD_WORKER_DEVICE_ROUTE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// Returns the local IP address from which packets to `host_port` ("host:7070", "[::1]:7070") are
// sent; the loopback address for a loopback host. Sends nothing to the host, but may query DNS.
// INVALID_ARGUMENT: malformed address. NOT_FOUND: unknown host. UNAVAILABLE: there is no route.
absl::StatusOr<std::string> AddressOfRouteTo(const std::string& host_port);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_ROUTE_ADDRESS_H_
