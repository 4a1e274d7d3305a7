// Owners of TCP ports of this machine, as the kernel knows them.
#ifndef TRAINYARD_PROTO_ACCESS_LOCAL_PORT_H_
#define TRAINYARD_PROTO_ACCESS_LOCAL_PORT_H_

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// "127.0.0.1:7070", "[::1]:7070" or "localhost:7070" in its parts.
struct HostAndPort {
  std::string host;
  int port = 0;
};

// Nothing for another form. An IPv6 address comes without its brackets.
std::optional<HostAndPort> SplitAddress(absl::string_view address);

// True for 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104 and "localhost".
bool IsLoopback(absl::string_view host);

// Users whose processes may take a connection to this port of a loopback host: those who listen at
// exactly its address, else those who listen at every address. Empty when none is found.
std::set<uid_t> OwnersOfListener(const std::string& host, int port);

// User whose process owns the end `near` of a loopback connection whose other end is `far`, both
// ports; nothing when the kernel lists no such connection, as for one from another machine or out
// of another network namespace, or several of different users.
std::optional<uid_t> OwnerOfConnection(int near, int far);

// Login name of the user; "uid-1234" when there is none.
std::string UserName(uid_t uid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_LOCAL_PORT_H_
