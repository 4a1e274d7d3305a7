// Unix socket of a controller, for callers on the same machine. The kernel reports to each end the
// user at the other end. The socket is next to the token, where only the owner of the token can
// create files.
#ifndef TRAINYARD_PROTO_ACCESS_LOCAL_SOCKET_H_
#define TRAINYARD_PROTO_ACCESS_LOCAL_SOCKET_H_

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard {

// Socket of the controller that serves gRPC on `port` and whose token is in `token_file`. Resolves
// symbolic links in `token_file`.
std::string LocalSocketPath(const std::string& token_file, int port);

// Listens at `path`, replacing a socket left there by a dead process. Mode 0660 with `for_group`,
// else 0600. ALREADY_EXISTS: another process listens at `path`, or it is not a socket.
absl::StatusOr<UniqueFd> ListenOnLocalSocket(const std::string& path, bool for_group);

// Connects to `path`; the socket is non-blocking. NOT_FOUND: no process listens there.
// PERMISSION_DENIED: this user may not connect. FAILED_PRECONDITION: the listener's owner is not in
// `owners`. Waits at most a second for a busy listener.
absl::StatusOr<UniqueFd> ConnectLocalSocket(const std::string& path, const std::set<uid_t>& owners);

// User at the other end of a connected Unix socket, as recorded by the kernel.
std::optional<uid_t> PeerUser(const UniqueFd& socket);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_LOCAL_SOCKET_H_
