// One question to the kernel about one TCP socket of this network namespace, by netlink
// (sock_diag(7)): microseconds, however many sockets there are.
#ifndef TRAINYARD_PROTO_ACCESS_SOCKET_QUESTION_H_
#define TRAINYARD_PROTO_ACCESS_SOCKET_QUESTION_H_

#include <sys/types.h>

#include <optional>

#include "proto/access/address.h"

namespace trainyard {

// False where the kernel does not answer such questions; the answers below are then empty.
bool KernelAnswersAboutSockets();

// The user who listens where a connection from this machine to this numeric address ends; nothing
// when nobody does.
std::optional<uid_t> AskForListener(const HostAndPort& where);

// The user of the socket `near` of the established connection to `far`, both numeric addresses of
// one family; nothing when there is no such connection.
std::optional<uid_t> AskForConnection(const HostAndPort& near, const HostAndPort& far);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_SOCKET_QUESTION_H_
