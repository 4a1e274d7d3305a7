// The user behind a connection.
#ifndef TRAINYARD_CONTROLLER_ACCESS_CALLER_H_
#define TRAINYARD_CONTROLLER_ACCESS_CALLER_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

namespace trainyard::controller {

struct Caller {
  std::string user;
  // True if the kernel identified the user, false if the client named it.
  bool verified = false;
};

// Converts the peer of a gRPC call, "ipv4:127.0.0.1:4711" or "ipv6:%5B::1%5D:4711", to HOST:PORT.
std::string PeerAddress(const std::string& grpc_peer);

// True if the caller's HOST:PORT is on this machine.
bool IsLocal(const std::string& peer);

// The user who owns the connection, or `claimed` if the kernel identified none. A root process may
// act for another user, like sudo; the result is then the claimed user.
Caller CallerOf(std::optional<uid_t> local_user, const std::string& claimed);

// Sets `user` and `user_verified` of a request.
template <typename Request>
void NameUser(std::optional<uid_t> local_user, Request& request) {
  Caller caller = CallerOf(local_user, request.user());
  request.set_user(std::move(caller.user));
  request.set_user_verified(caller.verified);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_CALLER_H_
