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

// Explains gRPC's message about a failed connection to `address`. `was_connected`: the connection
// had been made before and broke, so that TLS is not the cause.
ConnectError ExplainConnectError(absl::string_view message, absl::string_view address,
                                 bool was_connected);

// "cause; advice".
std::string ConnectErrorText(const ConnectError& error);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CONNECT_ERROR_H_
