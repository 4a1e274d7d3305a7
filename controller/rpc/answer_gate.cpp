#include "controller/rpc/answer_gate.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <utility>

namespace trainyard::controller {
namespace {

using grpc::experimental::InterceptionHookPoints;

class AnswerGate final : public grpc::experimental::Interceptor {
 public:
  explicit AnswerGate(const BeforeAnswer& before_answer) : before_answer_(before_answer) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    for (const auto point :
         {InterceptionHookPoints::PRE_SEND_INITIAL_METADATA,
          InterceptionHookPoints::PRE_SEND_MESSAGE, InterceptionHookPoints::PRE_SEND_STATUS}) {
      if (methods->QueryInterceptionHookPoint(point)) {
        before_answer_();
        break;
      }
    }
    methods->Proceed();
  }

 private:
  const BeforeAnswer& before_answer_;
};

class AnswerGateFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit AnswerGateFactory(BeforeAnswer before_answer)
      : before_answer_(std::move(before_answer)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo*) override {
    return new AnswerGate(before_answer_);
  }

 private:
  const BeforeAnswer before_answer_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAnswerGate(
    BeforeAnswer before_answer) {
  return std::make_unique<AnswerGateFactory>(std::move(before_answer));
}

}  // namespace trainyard::controller
