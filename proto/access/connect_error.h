// Why a connection to a controller could not be made, for people.
#ifndef TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
#define TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

struct ConnectError {
  std::string cause;
  std::string advice;  // The setting or file to change; empty where none is known to be wrong.
};

// Explains gRPC's message about a failed connection to `address`. `trusted`: certificates of the CA
// file, PEM; empty where no TLS was tried. Their dates are compared with the time of this machine,
// since gRPC does not say why a certificate was refused.
ConnectError ExplainConnectError(absl::string_view message, absl::string_view address,
                                 absl::string_view trusted);

// The same for a connection that was made and broke: TLS is not the cause.
ConnectError ExplainLostConnection(absl::string_view message);

// "cause; advice".
std::string ConnectErrorText(const ConnectError& error);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
