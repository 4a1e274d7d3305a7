#include "controller/rpc/access_service.h"

#include "controller/access/gate.h"
#include "controller/api/session_handlers.h"
#include "controller/rpc/named_request.h"
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
  auto* reactor = context->DefaultReactor();
  const v1::CreateLoginCodeRequest named = Named(api_, *context, *request);
  absl::StatusOr<std::string> code =
      api_.gate.MakeCode({.user = named.user(), .verified = named.user_verified()});
  if (code.ok() && !describe_(*code, *response)) {
    code = absl::FailedPreconditionError(
        "this controller has no dashboard; start it without `--http-listen off`");
  }
  reactor->Finish(ToGrpc(code.status()));
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::WhoAmI(grpc::CallbackServerContext* context,
                                                const v1::WhoAmIRequest* request,
                                                v1::WhoAmIResponse* response) {
  auto* reactor = context->DefaultReactor();
  const Caller caller = CallerOf(LocalUserOf(*context), request->user());
  response->set_user(caller.user);
  response->set_verified(caller.verified);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::ListSessions(grpc::CallbackServerContext* context,
                                                      const v1::ListSessionsRequest* /*request*/,
                                                      v1::ListSessionsResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ListSessions(api_, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::EndSessions(grpc::CallbackServerContext* context,
                                                     const v1::EndSessionsRequest* request,
                                                     v1::EndSessionsResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::EndSessions(api_, *request, FinishWith(reactor, response));
  return reactor;
}

}  // namespace trainyard::controller
