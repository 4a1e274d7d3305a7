// Owners of TCP ports of this machine, as the kernel knows them.
#ifndef TRAINYARD_PROTO_ACCESS_LOCAL_PORT_H_
#define TRAINYARD_PROTO_ACCESS_LOCAL_PORT_H_

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>

#include "proto/access/address.h"

namespace trainyard {

// Users whose processes may take a connection to this port of a loopback host: those who listen at
// exactly its address, else those who listen at every address. Empty when none is found.
std::set<uid_t> OwnersOfListener(const std::string& host, int port);

// User whose process owns the end `near`, an exact address, of a loopback connection whose other
// end is `far`, the address of a listener; nothing when the kernel lists no such connection, as for
// one from another machine or out of another network namespace.
//
// A listener at every address, or at a name, does not tell which address the connection has there.
// Another user may have one from the same port to another address of this machine, so all
// connections between these ports are looked at (milliseconds, where an exact address takes
// microseconds), and users who differ give nothing.
std::optional<uid_t> OwnerOfConnection(const HostAndPort& near, const HostAndPort& far);

// Login name of the user, as it was within the last minute; "uid-1234" when there is none. Any
// thread.
std::string UserName(uid_t uid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_LOCAL_PORT_H_
