#include "controller/rpc/call_timer.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace trainyard::controller {
namespace {

using grpc::experimental::InterceptionHookPoints;
using Steady = std::chrono::steady_clock;

// "/trainyard.v1.JobService/SubmitJob" -> "JobService/SubmitJob".
std::string MethodName(std::string_view path) {
  const std::size_t service_end = path.rfind('/');
  const std::size_t package_end = path.rfind('.', service_end);
  return std::string(path.substr(package_end == std::string_view::npos ? 0 : package_end + 1));
}

// Measures one call and lives as long as the call.
class CallTimer final : public grpc::experimental::Interceptor {
 public:
  CallTimer(const ObserveCall& observe, std::string method)
      : observe_(observe), method_(std::move(method)) {}

  ~CallTimer() override {
    observe_(method_, absl::StatusCodeToString(code_),
             std::chrono::duration<double>(Steady::now() - begin_).count());
  }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      code_ = static_cast<absl::StatusCode>(methods->GetSendStatus().error_code());
    }
    methods->Proceed();
  }

 private:
  const ObserveCall& observe_;
  const std::string method_;
  const Steady::time_point begin_ = Steady::now();
  // A call that ends without a status counts as canceled.
  absl::StatusCode code_ = absl::StatusCode::kCancelled;
};

class CallTimerFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallTimerFactory(ObserveCall observe) : observe_(std::move(observe)) {}

  // Returns nullptr for streaming calls, which gRPC then does not intercept.
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    if (info->type() != grpc::experimental::ServerRpcInfo::Type::UNARY) return nullptr;
    return new CallTimer(observe_, MethodName(info->method()));
  }

 private:
  const ObserveCall observe_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallTimers(
    ObserveCall observe) {
  return std::make_unique<CallTimerFactory>(std::move(observe));
}

}  // namespace trainyard::controller
