// Measures the duration of every unary call to the server, for all services.
#ifndef TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_
#define TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_

#include <functional>
#include <memory>
#include <string>

namespace grpc::experimental {
class ServerInterceptorFactoryInterface;
}

namespace trainyard::controller {

// Called on a gRPC thread when a unary call has ended. The arguments are the method, such as
// "JobService/SubmitJob", the name of the status code, such as "OK", and the duration. Not called
// for streaming calls, because their duration depends only on the client.
using ObserveCall =
    std::function<void(const std::string& method, const std::string& code, double seconds)>;

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallTimers(
    ObserveCall observe);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_CALL_TIMER_H_
