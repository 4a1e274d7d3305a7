// Answers unary RPCs with request handlers.
#ifndef TRAINYARD_CONTROLLER_RPC_UNARY_H_
#define TRAINYARD_CONTROLLER_RPC_UNARY_H_

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

#include "controller/access/server_credentials.h"
#include "controller/api/context/api.h"
#include "proto/support/grpc_status.h"

namespace trainyard::controller {

struct UnaryCall {
  const Api& api;
  grpc::CallbackServerContext* context;
  // The user that the request names, without verification. Empty if the request names none.
  std::string claimed_user = {};
};

// Answers the RPC with the result of `handler`, which receives the identity of the caller.
// `response` must stay valid until the RPC is finished. Omit `request` for handlers without a
// request.
template <typename Response, typename Handler, typename... Request>
grpc::ServerUnaryReactor* Answer(const UnaryCall& call, Response* response, Handler handler,
                                 const Request&... request) {
  auto* reactor = call.context->DefaultReactor();
  Reply<Response> reply = [reactor, response](absl::StatusOr<Response> result) {
    if (result.ok()) *response = *std::move(result);
    reactor->Finish(ToGrpc(result.status()));
  };
  const absl::StatusOr<Principal> principal = PrincipalOf(*call.context, call.claimed_user);
  if (principal.ok()) {
    handler(call.api, *principal, request..., std::move(reply));
  } else {
    reply(principal.status());
  }
  return reactor;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_UNARY_H_
