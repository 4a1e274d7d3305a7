// The gRPC service for access. It proves that the controller knows the token, creates login codes
// for the dashboard, lists and ends dashboard sessions, and tells callers their user name.
#ifndef TRAINYARD_CONTROLLER_RPC_ACCESS_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_ACCESS_SERVICE_H_

#include <functional>

#include "controller/access/token_prover.h"
#include "controller/api/context/api.h"
#include "trainyard/v1/access_service.grpc.pb.h"

namespace trainyard::controller {

// Sets path, http_port and tls in a response that contains a login code. Returns false if there is
// no dashboard. May be called on any thread.
using DescribeLogin =
    std::function<bool(const std::string& code, v1::CreateLoginCodeResponse& response)>;

class AccessService final : public v1::AccessService::CallbackService {
 public:
  // `api` and `prover` must outlive every call.
  AccessService(const Api& api, const TokenProver& prover, DescribeLogin describe)
      : api_(api), prover_(prover), describe_(std::move(describe)) {}

  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context,
                                  const v1::ProveRequest* request,
                                  v1::ProveResponse* response) override;

  grpc::ServerUnaryReactor* CreateLoginCode(grpc::CallbackServerContext* context,
                                            const v1::CreateLoginCodeRequest* request,
                                            v1::CreateLoginCodeResponse* response) override;
  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context,
                                   const v1::WhoAmIRequest* request,
                                   v1::WhoAmIResponse* response) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* EndSessions(grpc::CallbackServerContext* context,
                                        const v1::EndSessionsRequest* request,
                                        v1::EndSessionsResponse* response) override;

 private:
  const Api& api_;
  const TokenProver& prover_;
  const DescribeLogin describe_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_ACCESS_SERVICE_H_
