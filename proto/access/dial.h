// Makes TCP connections without gRPC. After a loss, gRPC would automatically reconnect to any
// program that listens at the address.
#ifndef TRAINYARD_PROTO_ACCESS_DIAL_H_
#define TRAINYARD_PROTO_ACCESS_DIAL_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard {

// Returns the numeric addresses of HOST:PORT, each as HOST:PORT, in the order of the resolver.
// UNAVAILABLE: unknown name.
absl::StatusOr<std::vector<std::string>> ResolveAddress(const std::string& address);

// Connects to a numeric address and returns a non-blocking socket. On failure returns UNAVAILABLE
// with the cause, or DEADLINE_EXCEEDED.
absl::StatusOr<UniqueFd> Dial(const std::string& numeric_address,
                              std::chrono::steady_clock::time_point deadline);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_DIAL_H_
