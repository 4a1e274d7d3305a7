#include "worker/rpc/dial_controller.h"

#include <algorithm>
#include <utility>

#include "proto/access/connect_error.h"
#include "proto/access/controller_list.h"
#include "proto/access/secret.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

absl::StatusOr<Access> AccessOf(const std::string& controller, const std::string& token_file) {
  AccessPlaces places = PlacesOfProcess();
  if (!token_file.empty()) places.token_file = token_file;
  return FindAccess(controller, places);
}

}  // namespace

AttachOptions ForSeveral(AttachOptions options) {
  if (options.controllers.size() < 2) return options;
  options.backoff_ms_max = std::min<int64_t>(options.backoff_ms_max, 1000);
  options.keepalive_ms = std::min<int64_t>(options.keepalive_ms, 2000);
  options.keepalive_timeout_ms = std::min<int64_t>(options.keepalive_timeout_ms, 2000);
  options.welcome_timeout_ms = std::min<int64_t>(options.welcome_timeout_ms, 2000);
  return options;
}

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
  TRAINYARD_ASSIGN_OR_RETURN(const Access access,
                             AccessOf(options.controllers.front(), options.token_file));
  return access.token();
}

absl::StatusOr<DialedController> DialController(const std::string& controller,
                                                const DialRules& rules) {
  TRAINYARD_ASSIGN_OR_RETURN(const Access access, AccessOf(controller, rules.token_file));
  absl::StatusOr<OpenedChannel> opened = OpenChannel(
      access, {.arguments = rules.arguments, .limit = rules.limit, .always_prove = true});
  if (LeaderNamedBy(opened.status()).has_value()) return opened.status();
  if (absl::IsUnavailable(opened.status())) {
    return absl::UnavailableError(ConnectErrorText(
        ExplainConnectError(opened.status().message(), controller, access.certificate())));
  }
  if (!opened.ok()) return opened.status();
  return DialedController{*std::move(opened), access.token()};
}

}  // namespace trainyard::worker
