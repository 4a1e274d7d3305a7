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
  // The time limit of OpenChannel, not counting the lookup of a host name.
  std::chrono::milliseconds limit{3000};
  // If true, the controller must prove on every connection that it knows the token. If false, only
  // on plain TCP connections.
  bool always_prove = false;
  // If true, a standby is accepted, which answers only GetServerInfo.
  bool accept_standby = false;
};

struct OpenedChannel {
  std::shared_ptr<grpc::Channel> channel;
  // The controller's challenge, from which the caller computes its own proofs; empty if the
  // controller was not asked for a proof.
  std::string challenge;
};

// Opens a channel. Blocks until the controller is verified:
//
// - over the local socket, by the owner of the listening process, as reported by the kernel;
// - over TLS, by the certificate;
// - over plain TCP, by a proof that the controller knows the token. The client proves its own
//   knowledge of the token, too; the token itself is never sent.
//
// A channel over the local socket or plain TCP is one connection. Such a channel never reconnects,
// because another process may be listening by then. After UNAVAILABLE, open a new channel.
//
// UNAVAILABLE: no controller answers; the message is from gRPC or the operating system. Or the
// controller is a standby (LeaderNamedBy in controller_list.h).
// PERMISSION_DENIED: the program at the address did not prove that it knows the token.
// FAILED_PRECONDITION: the controller is an older release, or the socket belongs to another user.
// DEADLINE_EXCEEDED: no answer within the limit.
absl::StatusOr<OpenedChannel> OpenChannel(const Access& access, const ChannelOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_CHANNEL_H_
