// Finishes a unary call with the reply of a request handler.
#ifndef TRAINYARD_CONTROLLER_RPC_UNARY_H_
#define TRAINYARD_CONTROLLER_RPC_UNARY_H_

#include <grpcpp/grpcpp.h>

#include <utility>

#include "controller/api/api.h"
#include "proto/support/grpc_status.h"

namespace trainyard::controller {

// `response` lives until the call is finished.
template <typename Response>
Reply<Response> FinishWith(grpc::ServerUnaryReactor* reactor, Response* response) {
  return [reactor, response](absl::StatusOr<Response> result) {
    if (result.ok()) *response = *std::move(result);
    reactor->Finish(ToGrpc(result.status()));
  };
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_UNARY_H_
