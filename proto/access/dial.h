// TCP connections made without gRPC, which would reconnect to whatever is listening by then.
#ifndef TRAINYARD_PROTO_ACCESS_DIAL_H_
#define TRAINYARD_PROTO_ACCESS_DIAL_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard {

// Numeric addresses of HOST:PORT, as HOST:PORT, in the resolver's order. UNAVAILABLE: unknown name.
absl::StatusOr<std::vector<std::string>> ResolveAddress(const std::string& address);

// Connects to a numeric address; the socket is non-blocking. UNAVAILABLE, with the cause, or
// DEADLINE_EXCEEDED.
absl::StatusOr<UniqueFd> Dial(const std::string& numeric_address,
                              std::chrono::steady_clock::time_point deadline);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_DIAL_H_
