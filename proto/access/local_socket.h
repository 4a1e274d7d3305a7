// The Unix socket of a controller, for callers on the same machine. The kernel reports to each end
// which user is at the other end. The socket is in the token's directory. Only the owner of the
// token can create files there.
#ifndef TRAINYARD_PROTO_ACCESS_LOCAL_SOCKET_H_
#define TRAINYARD_PROTO_ACCESS_LOCAL_SOCKET_H_

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard {

// Returns the socket path of the controller that serves gRPC on `port` and stores its token in
// `token_file`. Resolves symbolic links in `token_file`.
std::string LocalSocketPath(const std::string& token_file, int port);

// Listens at `path`. Replaces a socket file whose process no longer exists. The mode is 0660 if
// `for_group` is true, otherwise 0600. ALREADY_EXISTS: another process listens at `path`, or `path`
// is not a socket.
absl::StatusOr<UniqueFd> ListenOnLocalSocket(const std::string& path, bool for_group);

// Connects to `path` and returns a non-blocking socket. Waits at most one second for a busy
// listener. NOT_FOUND: no process listens there. PERMISSION_DENIED: this user may not connect.
// FAILED_PRECONDITION: the owner of the listener is not in `owners`.
absl::StatusOr<UniqueFd> ConnectLocalSocket(const std::string& path, const std::set<uid_t>& owners);

// Returns the user at the other end of a connected Unix socket, as recorded by the kernel.
std::optional<uid_t> PeerUser(const UniqueFd& socket);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_LOCAL_SOCKET_H_
