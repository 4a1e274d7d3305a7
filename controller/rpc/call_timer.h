// Measures the duration of every unary call to the server, for all services.
#ifndef TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_
#define TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_

#include <functional>
#include <string>

namespace grpc {
class ServerBuilder;
}

namespace trainyard::controller {

// Called on a gRPC thread when a unary call has ended. The arguments are the method, such as
// "JobService/SubmitJob", the name of the status code, such as "OK", and the duration. Not called
// for streaming calls, because their duration depends only on the client.
using ObserveCall =
    std::function<void(const std::string& method, const std::string& code, double seconds)>;

// Adds the timers to the builder. Call before the server is built.
void AddCallTimers(const ObserveCall& observe, grpc::ServerBuilder& builder);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_
