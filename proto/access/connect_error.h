// Reasons why a connection to a controller failed, for people.
#ifndef TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
#define TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

struct ConnectError {
  std::string cause;
  std::string advice;  // The setting or file to change; empty if none is known to be wrong.
};

// Explains gRPC's message about a failed connection to `address`. `trusted`: certificates of the CA
// file, PEM; empty if TLS was not used. Compares their dates with this machine's time, because gRPC
// does not report why a certificate was rejected.
ConnectError ExplainConnectError(absl::string_view message, absl::string_view address,
                                 absl::string_view trusted);

// Explains the loss of an established connection, which TLS cannot have caused.
ConnectError ExplainLostConnection(absl::string_view message);

// "cause; advice".
std::string ConnectErrorText(const ConnectError& error);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
