// Identifies the user behind a connection.
#ifndef TRAINYARD_CONTROLLER_ACCESS_CALLER_H_
#define TRAINYARD_CONTROLLER_ACCESS_CALLER_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "controller/core/support/principal.h"

namespace trainyard::controller {

// Converts the peer of a gRPC call, "ipv4:127.0.0.1:4711" or "ipv6:%5B::1%5D:4711", to HOST:PORT.
std::string PeerAddress(const std::string& grpc_peer);

// Returns true if `peer` (HOST:PORT) is a loopback address.
bool IsLocal(const std::string& peer);

// Returns the principal of a connection. `local_user` is the user whom the kernel reports as the
// connection's owner, and `claimed` is the user named in the request. The result is the owner,
// except in two cases. If the kernel reports no user, the result is `claimed`. If the owner is
// root, `claimed` may name another user, because root may act for other users, as with sudo.
// INVALID_ARGUMENT: the user name is too long.
absl::StatusOr<Principal> PrincipalOf(std::optional<uid_t> local_user, const std::string& claimed);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_CALLER_H_
