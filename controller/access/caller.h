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
  // True: the kernel named the user. False: the client did.
  bool verified = false;
};

// The peer of a gRPC call, "ipv4:127.0.0.1:4711" or "ipv6:%5B::1%5D:4711", as HOST:PORT.
std::string PeerAddress(const std::string& grpc_peer);

// True for the HOST:PORT of a caller on this machine.
bool IsLocal(const std::string& peer);

// The user who owns the connection, or `claimed` if the kernel named none. A process of root may
// act for another user, as sudo does: then it is the user that it claims.
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
