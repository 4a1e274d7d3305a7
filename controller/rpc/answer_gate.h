// Calls a function before anything is sent to a caller, for all services.
#ifndef TRAINYARD_CONTROLLER_RPC_ANSWER_GATE_H_
#define TRAINYARD_CONTROLLER_RPC_ANSWER_GATE_H_

#include <functional>
#include <memory>

namespace grpc::experimental {
class ServerInterceptorFactoryInterface;
}

namespace trainyard::controller {

// Called on any thread, before each answer, message of a stream, and status. Ends the process if
// the controller must no longer answer.
using BeforeAnswer = std::function<void()>;

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAnswerGate(
    BeforeAnswer before_answer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_ANSWER_GATE_H_
