// Connects to the controller.
#ifndef TRAINYARD_WORKER_RPC_DIAL_CONTROLLER_H_
#define TRAINYARD_WORKER_RPC_DIAL_CONTROLLER_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "proto/access/channel.h"
#include "worker/rpc/attach_options.h"

namespace trainyard::worker {

// A controller that has proved its knowledge of the token.
struct DialedController {
  OpenedChannel opened;
  std::string token;
};

grpc::ChannelArguments ControllerArguments(const AttachOptions& options);

// Returns the token of the cluster; all controllers have the same one. Errors are those of
// FindAccess.
absl::StatusOr<std::string> ReadControllerToken(const AttachOptions& options);

struct DialRules {
  std::string token_file;  // As in AttachOptions.
  std::chrono::milliseconds limit;
  grpc::ChannelArguments arguments;
};

// Reads the token again for each dial, because the token may have been created or replaced. Blocks.
// UNAVAILABLE: the controller cannot be reached or does not lead; the message names the cause.
absl::StatusOr<DialedController> DialController(const std::string& controller,
                                                const DialRules& rules);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_DIAL_CONTROLLER_H_
