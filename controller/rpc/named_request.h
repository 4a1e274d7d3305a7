// Adds the user of the connection to requests.
#ifndef TRAINYARD_CONTROLLER_RPC_NAMED_REQUEST_H_
#define TRAINYARD_CONTROLLER_RPC_NAMED_REQUEST_H_

#include "controller/access/caller.h"
#include "controller/access/gate.h"
#include "controller/access/server_credentials.h"
#include "controller/api/api.h"
#include "grpcpp/grpcpp.h"

namespace trainyard::controller {

// The request with user and user_verified set from the connection. Without a token, the user named
// by the client is kept, unverified.
template <typename Request>
Request Named(const Api& api, const grpc::ServerContextBase& context, Request request) {
  request.set_user_verified(false);
  if (!api.gate.open()) NameUser(LocalUserOf(context), request);
  return request;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_NAMED_REQUEST_H_
