#include "worker/rpc/dial_controller.h"

#include <utility>

#include "proto/access/connect_error.h"
#include "proto/access/secret.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

absl::StatusOr<Access> AccessOf(const AttachOptions& options) {
  AccessPlaces places = PlacesOfProcess();
  if (!options.token_file.empty()) places.token_file = options.token_file;
  return FindAccess(options.controller, places);
}

}  // namespace

grpc::ChannelArguments ControllerArguments(const AttachOptions& options) {
  grpc::ChannelArguments arguments;
  // Each dial uses a new connection, because gRPC would add its own backoff to a shared connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive_ms));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(options.keepalive_timeout_ms));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

absl::StatusOr<std::string> ReadControllerToken(const AttachOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const Access access, AccessOf(options));
  return access.token();
}

absl::StatusOr<DialedController> DialController(const AttachOptions& options,
                                                std::chrono::milliseconds limit,
                                                const grpc::ChannelArguments& arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(const Access access, AccessOf(options));
  absl::StatusOr<OpenedChannel> opened =
      OpenChannel(access, {.arguments = arguments, .limit = limit, .always_prove = true});
  if (absl::IsUnavailable(opened.status())) {
    return absl::UnavailableError(ConnectErrorText(
        ExplainConnectError(opened.status().message(), options.controller, access.certificate())));
  }
  if (!opened.ok()) return opened.status();
  return DialedController{*std::move(opened), access.token()};
}

}  // namespace trainyard::worker
