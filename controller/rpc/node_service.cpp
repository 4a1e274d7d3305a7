#include "controller/rpc/node_service.h"

#include "controller/api/cluster_handlers.h"
#include "controller/rpc/named_request.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* NodeService::ListNodes(grpc::CallbackServerContext* context,
                                                 const v1::ListNodesRequest* /*request*/,
                                                 v1::ListNodesResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ListNodes(api_, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* NodeService::CordonNode(grpc::CallbackServerContext* context,
                                                  const v1::CordonNodeRequest* request,
                                                  v1::CordonNodeResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::CordonNode(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* NodeService::ReleaseNode(grpc::CallbackServerContext* context,
                                                   const v1::ReleaseNodeRequest* request,
                                                   v1::ReleaseNodeResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::ReleaseNode(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* NodeService::RemoveNode(grpc::CallbackServerContext* context,
                                                  const v1::RemoveNodeRequest* request,
                                                  v1::RemoveNodeResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::RemoveNode(api_, Named(api_, *context, *request), FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* NodeService::CheckNodes(grpc::CallbackServerContext* context,
                                                  const v1::CheckNodesRequest* /*request*/,
                                                  v1::CheckNodesResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::CheckNodes(api_, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* ServerService::GetServerInfo(grpc::CallbackServerContext* context,
                                                       const v1::GetServerInfoRequest* /*request*/,
                                                       v1::GetServerInfoResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::GetServerInfo(api_, FinishWith(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* ServerService::CheckStores(grpc::CallbackServerContext* context,
                                                     const v1::CheckStoresRequest* /*request*/,
                                                     v1::CheckStoresResponse* response) {
  auto* reactor = context->DefaultReactor();
  handlers::CheckStores(api_, FinishWith(reactor, response));
  return reactor;
}

}  // namespace trainyard::controller
