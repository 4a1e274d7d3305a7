#include "proto/access/channel.h"

#include <utility>
#include <vector>

#include "grpcpp/support/client_interceptor.h"

namespace trainyard {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::InterceptionHookPoints;

class AddToken final : public grpc::experimental::Interceptor {
 public:
  explicit AddToken(const std::string& header) : header_(header) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->insert({"authorization", header_});
    }
    methods->Proceed();
  }

 private:
  const std::string header_;
};

class AddTokenFactory final : public ClientInterceptorFactoryInterface {
 public:
  explicit AddTokenFactory(const std::string& token) : header_("Bearer " + token) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new AddToken(header_);
  }

 private:
  const std::string header_;
};

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const Access& access) {
  if (access.certificate.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = access.certificate;
  return grpc::SslCredentials(options);
}

}  // namespace

// An interceptor and not call credentials: gRPC refuses those on connections without TLS, which a
// loopback address does not need.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, const Access& access,
                                           const grpc::ChannelArguments& arguments) {
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> interceptors;
  if (!access.token.empty()) {
    interceptors.push_back(std::make_unique<AddTokenFactory>(access.token));
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      address, CredentialsOf(access), arguments, std::move(interceptors));
}

std::shared_ptr<grpc::Channel> MakeLocalChannel(const std::string& address,
                                                const grpc::ChannelArguments& arguments) {
  return MakeChannel(address, FindAccess(address, PlacesOfProcess()).value_or(Access()), arguments);
}

}  // namespace trainyard
