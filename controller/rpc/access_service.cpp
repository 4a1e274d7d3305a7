#include "controller/rpc/access_service.h"

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

grpc::ServerUnaryReactor* AccessService::CreateLoginCode(
    grpc::CallbackServerContext* context, const v1::CreateLoginCodeRequest* /*request*/,
    v1::CreateLoginCodeResponse* response) {
  auto* reactor = context->DefaultReactor();
  absl::StatusOr<std::string> code = api_.gate.MakeCode();
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

}  // namespace trainyard::controller
