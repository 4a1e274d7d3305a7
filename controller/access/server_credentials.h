// Applies AccessGate to gRPC: checks every call before its service receives it.
#ifndef TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_
#define TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "controller/access/gate.h"
#include "controller/access/tls_identity.h"
#include "controller/access/token_prover.h"
#include "controller/core/support/principal.h"
#include "grpcpp/grpcpp.h"

namespace trainyard::controller {

// The checks that decide the role of a call on a TCP port.
struct TokenCheck {
  const AccessGate& gate;
  const TokenProver& prover;
};

// Returns the credentials of a TCP port. A call with the token, or with a proof of the token, has
// the operator role; any other call is anonymous. A call without permission ends with
// UNAUTHENTICATED. `check` must outlive the server, because the server does not own the
// credentials.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const TokenCheck& check,
                                                               const TlsIdentity& tls);

// Returns the credentials of a port of the local socket (local_listener.h). The socket's file mode
// restricts who can connect, so callers need no token. `user` must outlive the server.
std::shared_ptr<grpc::ServerCredentials> MakeLocalCredentials(const std::atomic<int64_t>& user);

// Returns the user of a call over the local socket, as identified by the kernel. Returns nullopt
// for any other call.
std::optional<uid_t> LocalUserOf(const grpc::ServerContextBase& context);

// Returns the principal of a call. `claimed` is the user named in the request. INVALID_ARGUMENT:
// the user name is too long.
absl::StatusOr<Principal> PrincipalOf(const grpc::ServerContextBase& context,
                                      const std::string& claimed);

// True for a call over the local socket or from a loopback address.
bool IsFromThisMachine(const grpc::ServerContextBase& context);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_
