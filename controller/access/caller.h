// The user behind a connection.
#ifndef TRAINYARD_CONTROLLER_ACCESS_CALLER_H_
#define TRAINYARD_CONTROLLER_ACCESS_CALLER_H_

#include <string>
#include <utility>

#include "proto/access/address.h"

namespace trainyard::controller {

struct Connection {
  // The caller's end, as HOST:PORT; empty when it is not known.
  std::string peer;
  // This controller's end, or where it listens if that is all one knows.
  HostAndPort here;
};

struct Caller {
  std::string user;
  // The kernel gave the user; false: as the client said.
  bool verified = false;
};

// The peer of a gRPC call, "ipv4:127.0.0.1:4711" or "ipv6:%5B::1%5D:4711", as HOST:PORT.
std::string PeerAddress(const std::string& grpc_peer);

// True when the caller's end is on this machine.
bool IsLocal(const Connection& connection);

// The user who owns the caller's end where that is on this machine and the kernel lists it;
// `claimed` otherwise. A process of the user root may act for another user, as sudo does: it has
// said whom. Takes microseconds where the address of this end is known, else milliseconds.
Caller CallerOf(const Connection& connection, const std::string& claimed);

// Sets `user` and `user_verified` of a request.
template <typename Request>
void NameUser(const Connection& connection, Request& request) {
  Caller caller = CallerOf(connection, request.user());
  request.set_user(std::move(caller.user));
  request.set_user_verified(caller.verified);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_CALLER_H_
