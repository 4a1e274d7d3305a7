// The gRPC side of the gate: checks every call before its service receives it.
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

// Admission of calls on a TCP port.
struct TokenCheck {
  const AccessGate& gate;
  const TokenProver& prover;
};

// Credentials of a TCP port. A call with the token or a proof of it is an operator's, any other one
// is anonymous. A call that its role may not make ends with UNAUTHENTICATED. `check` must outlive
// the server, which does not keep the credentials.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const TokenCheck& check,
                                                               const TlsIdentity& tls);

// Credentials of a port of the local socket (local_listener.h). The socket's file mode admits
// callers, so they need no token. `user` must outlive the server.
std::shared_ptr<grpc::ServerCredentials> MakeLocalCredentials(const std::atomic<int64_t>& user);

// The user of a call over the local socket, as identified by the kernel; nullopt for any other
// call.
std::optional<uid_t> LocalUserOf(const grpc::ServerContextBase& context);

// The principal of a call. `claimed`: user named by the request. INVALID_ARGUMENT: the user name is
// too long.
absl::StatusOr<Principal> PrincipalOf(const grpc::ServerContextBase& context,
                                      const std::string& claimed);

// True for a call over the local socket or from a loopback address.
bool IsFromThisMachine(const grpc::ServerContextBase& context);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_
