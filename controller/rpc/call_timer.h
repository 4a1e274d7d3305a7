// Measures every call to the server, for all services.
#ifndef TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_
#define TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_

#include "controller/rpc/server.h"

namespace grpc {
class ServerBuilder;
}

namespace trainyard::controller {

// Adds the timers to the builder. Call before the server is built.
void AddCallTimers(const ObserveCall& observe, grpc::ServerBuilder& builder);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_
