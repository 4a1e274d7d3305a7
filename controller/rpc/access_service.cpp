#include "controller/rpc/access_service.h"

#include <string>
#include <utility>

#include "controller/access/gate.h"
#include "controller/api/cluster/session_handlers.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* AccessService::Prove(grpc::CallbackServerContext* context,
                                               const v1::ProveRequest* request,
                                               v1::ProveResponse* response) {
  auto* reactor = context->DefaultReactor();
  absl::StatusOr<v1::ProveResponse> proof = prover_.Prove(*request);
  if (proof.ok()) *response = *std::move(proof);
  reactor->Finish(ToGrpc(proof.status()));
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::CreateLoginCode(grpc::CallbackServerContext* context,
                                                         const v1::CreateLoginCodeRequest* request,
                                                         v1::CreateLoginCodeResponse* response) {
  const auto create = [this](const Api& api, const Principal& principal,
                             const Reply<v1::CreateLoginCodeResponse>& reply) {
    const absl::StatusOr<std::string> code = api.gate.MakeCode(principal);
    if (!code.ok()) return reply(code.status());
    v1::CreateLoginCodeResponse created;
    if (describe_(*code, created)) return reply(std::move(created));
    reply(absl::FailedPreconditionError(
        "this controller has no dashboard; start the controller without `--http-listen off`"));
  };
  return Answer({api_, context, request->user()}, response, create);
}

grpc::ServerUnaryReactor* AccessService::WhoAmI(grpc::CallbackServerContext* context,
                                                const v1::WhoAmIRequest* request,
                                                v1::WhoAmIResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::WhoAmI);
}

grpc::ServerUnaryReactor* AccessService::ListSessions(grpc::CallbackServerContext* context,
                                                      const v1::ListSessionsRequest* /*request*/,
                                                      v1::ListSessionsResponse* response) {
  return Answer({api_, context}, response, handlers::ListSessions);
}

grpc::ServerUnaryReactor* AccessService::EndSessions(grpc::CallbackServerContext* context,
                                                     const v1::EndSessionsRequest* request,
                                                     v1::EndSessionsResponse* response) {
  return Answer({api_, context}, response, handlers::EndSessions, *request);
}

}  // namespace trainyard::controller
