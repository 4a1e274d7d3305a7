// Opens gRPC channels to a verified controller.
#ifndef TRAINYARD_PROTO_ACCESS_CHANNEL_H_
#define TRAINYARD_PROTO_ACCESS_CHANNEL_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/grpcpp.h"
#include "proto/access/access.h"

namespace trainyard {

struct ChannelOptions {
  grpc::ChannelArguments arguments;
  // The time limit of OpenChannel. The lookup of a host name is not included.
  std::chrono::milliseconds limit{3000};
  // If true, the controller must prove that it knows the token on every connection. If false, only
  // on plain TCP.
  bool always_prove = false;
};

struct OpenedChannel {
  std::shared_ptr<grpc::Channel> channel;
  // The controller's challenge, which the caller needs for proofs; empty if no proof was requested.
  std::string challenge;
};

// Opens a channel. Blocks until the controller is verified:
//
// - over the local socket, by the owner of the listening process, which the kernel reports;
// - over TLS, by the certificate;
// - over plain TCP, by a proof that it knows the token. The caller then proves that it knows the
//   token too, and never sends the token.
//
// A channel over the local socket or plain TCP is one connection. It never reconnects, because
// another process may be listening by then. After UNAVAILABLE, open a new channel.
//
// UNAVAILABLE: no controller answers; the message is gRPC's or the system's. PERMISSION_DENIED: the
// program at the address did not prove that it knows the token. FAILED_PRECONDITION: the controller
// is an older release, or the socket belongs to another user. DEADLINE_EXCEEDED: no answer within
// the limit.
absl::StatusOr<OpenedChannel> OpenChannel(const Access& access, const ChannelOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CHANNEL_H_
