// The address of this machine for its peers.
#ifndef TRAINYARD_WORKER_DEVICE_ROUTE_ADDRESS_H_
#define TRAINYARD_WORKER_DEVICE_ROUTE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// The local IP address used to send packets to `host_port` ("host:7070", "[::1]:7070"); loopback
// for a loopback host. Sends nothing, but may query DNS. INVALID_ARGUMENT for a malformed address,
// NOT_FOUND for an unknown host, UNAVAILABLE if there is no route.
absl::StatusOr<std::string> AddressOfRouteTo(const std::string& host_port);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DEVICE_ROUTE_ADDRESS_H_
