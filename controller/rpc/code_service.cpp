#include "controller/rpc/code_service.h"

#include "controller/api/job_files/code_handlers.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* CodeService::FindMissingCode(grpc::CallbackServerContext* context,
                                                       const v1::FindMissingCodeRequest* request,
                                                       v1::FindMissingCodeResponse* response) {
  return Answer({api_, context}, response, handlers::FindMissingCode, *request);
}

grpc::ServerUnaryReactor* CodeService::StoreCode(grpc::CallbackServerContext* context,
                                                 const v1::StoreCodeRequest* request,
                                                 v1::StoreCodeResponse* response) {
  return Answer({api_, context}, response, handlers::StoreCode, *request);
}

grpc::ServerUnaryReactor* CodeService::FetchCode(grpc::CallbackServerContext* context,
                                                 const v1::FetchCodeRequest* request,
                                                 v1::FetchCodeResponse* response) {
  return Answer({api_, context}, response, handlers::FetchCode, *request);
}

grpc::ServerUnaryReactor* CodeService::FindCodeSource(grpc::CallbackServerContext* context,
                                                      const v1::FindCodeSourceRequest* request,
                                                      v1::FindCodeSourceResponse* response) {
  return Answer({api_, context}, response, handlers::FindCodeSource, *request);
}

}  // namespace trainyard::controller
