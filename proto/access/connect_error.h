// Explains to users why a connection to a controller failed.
#ifndef TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
#define TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

struct ConnectError {
  std::string cause;
  std::string advice;  // The setting or file to change; empty if unknown.
};

// Explains gRPC's message about a failed connection to `address`. `trusted` contains the
// certificates of the CA file in PEM; empty if TLS was not used. gRPC does not report why it
// rejected a certificate. Therefore this function compares the validity periods of `trusted` with
// this machine's clock.
ConnectError ExplainConnectError(absl::string_view message, absl::string_view address,
                                 absl::string_view trusted);

// Explains the loss of an established connection. TLS cannot be the cause.
ConnectError ExplainLostConnection(absl::string_view message);

// "cause; advice".
std::string ConnectErrorText(const ConnectError& error);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
