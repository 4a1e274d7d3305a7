// Requests with the user behind their connection.
#ifndef TRAINYARD_CONTROLLER_RPC_NAMED_REQUEST_H_
#define TRAINYARD_CONTROLLER_RPC_NAMED_REQUEST_H_

#include "controller/access/caller.h"
#include "controller/access/gate.h"
#include "controller/access/server_credentials.h"
#include "controller/api/api.h"
#include "grpcpp/grpcpp.h"

namespace trainyard::controller {

// The request with user and user_verified as the connection gives them. Without a token the
// controller believes its clients.
template <typename Request>
Request Named(const Api& api, const grpc::ServerContextBase& context, Request request) {
  request.set_user_verified(false);
  if (!api.gate.open()) NameUser(LocalUserOf(context), request);
  return request;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_NAMED_REQUEST_H_
