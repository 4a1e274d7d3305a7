// The gRPC side of the gate.
#ifndef TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_
#define TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_

#include <memory>
#include <string>

#include "controller/access/gate.h"
#include "controller/access/tls_identity.h"
#include "grpcpp/grpcpp.h"

namespace trainyard::controller {

// Every call of every service must bring the token in its metadata: others end with UNAUTHENTICATED
// before a service sees them. `gate` outlives the server.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const AccessGate& gate,
                                                               const TlsIdentity& tls);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_SERVER_CREDENTIALS_H_
