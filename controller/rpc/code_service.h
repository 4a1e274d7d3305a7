// The gRPC service for the code of jobs.
#ifndef TRAINYARD_CONTROLLER_RPC_CODE_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_CODE_SERVICE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/code_service.grpc.pb.h"

namespace trainyard::controller {

class CodeService final : public v1::CodeService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit CodeService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* FindMissingCode(grpc::CallbackServerContext* context,
                                            const v1::FindMissingCodeRequest* request,
                                            v1::FindMissingCodeResponse* response) override;
  grpc::ServerUnaryReactor* StoreCode(grpc::CallbackServerContext* context,
                                      const v1::StoreCodeRequest* request,
                                      v1::StoreCodeResponse* response) override;
  grpc::ServerUnaryReactor* FetchCode(grpc::CallbackServerContext* context,
                                      const v1::FetchCodeRequest* request,
                                      v1::FetchCodeResponse* response) override;
  grpc::ServerUnaryReactor* FindCodeSource(grpc::CallbackServerContext* context,
                                           const v1::FindCodeSourceRequest* request,
                                           v1::FindCodeSourceResponse* response) override;

 private:
  const Api& api_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_CODE_SERVICE_H_
