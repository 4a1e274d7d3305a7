#include "controller/rpc/node_service.h"

#include "controller/api/cluster/cluster_handlers.h"
#include "controller/api/cluster/hand_over.h"
#include "controller/api/cluster/node_view.h"
#include "controller/api/cluster/reservation_handlers.h"
#include "controller/rpc/unary.h"

namespace trainyard::controller {

grpc::ServerUnaryReactor* NodeService::ListNodes(grpc::CallbackServerContext* context,
                                                 const v1::ListNodesRequest* /*request*/,
                                                 v1::ListNodesResponse* response) {
  return Answer({api_, context}, response, handlers::ListNodes);
}

grpc::ServerUnaryReactor* NodeService::GetNode(grpc::CallbackServerContext* context,
                                               const v1::GetNodeRequest* request,
                                               v1::GetNodeResponse* response) {
  return Answer({api_, context}, response, handlers::GetNode, *request);
}

grpc::ServerUnaryReactor* NodeService::CordonNode(grpc::CallbackServerContext* context,
                                                  const v1::CordonNodeRequest* request,
                                                  v1::CordonNodeResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::CordonNode, *request);
}

grpc::ServerUnaryReactor* NodeService::ReleaseNode(grpc::CallbackServerContext* context,
                                                   const v1::ReleaseNodeRequest* request,
                                                   v1::ReleaseNodeResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::ReleaseNode, *request);
}

grpc::ServerUnaryReactor* NodeService::GetTopology(grpc::CallbackServerContext* context,
                                                   const v1::GetTopologyRequest* /*request*/,
                                                   v1::GetTopologyResponse* response) {
  return Answer({api_, context}, response, handlers::GetTopology);
}

grpc::ServerUnaryReactor* NodeService::SetTopology(grpc::CallbackServerContext* context,
                                                   const v1::SetTopologyRequest* request,
                                                   v1::SetTopologyResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::SetTopology, *request);
}

grpc::ServerUnaryReactor* NodeService::ListReservations(
    grpc::CallbackServerContext* context, const v1::ListReservationsRequest* /*request*/,
    v1::ListReservationsResponse* response) {
  return Answer({api_, context}, response, handlers::ListReservations);
}

grpc::ServerUnaryReactor* NodeService::CreateReservation(
    grpc::CallbackServerContext* context, const v1::CreateReservationRequest* request,
    v1::CreateReservationResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::CreateReservation, *request);
}

grpc::ServerUnaryReactor* NodeService::DeleteReservation(
    grpc::CallbackServerContext* context, const v1::DeleteReservationRequest* request,
    v1::DeleteReservationResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::DeleteReservation, *request);
}

grpc::ServerUnaryReactor* NodeService::RemoveNode(grpc::CallbackServerContext* context,
                                                  const v1::RemoveNodeRequest* request,
                                                  v1::RemoveNodeResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::RemoveNode, *request);
}

grpc::ServerUnaryReactor* NodeService::CheckNodes(grpc::CallbackServerContext* context,
                                                  const v1::CheckNodesRequest* /*request*/,
                                                  v1::CheckNodesResponse* response) {
  return Answer({api_, context}, response, handlers::CheckNodes);
}

grpc::ServerUnaryReactor* ServerService::GetServerInfo(grpc::CallbackServerContext* context,
                                                       const v1::GetServerInfoRequest* /*request*/,
                                                       v1::GetServerInfoResponse* response) {
  return Answer({api_, context}, response, handlers::GetServerInfo);
}

grpc::ServerUnaryReactor* ServerService::CheckStores(grpc::CallbackServerContext* context,
                                                     const v1::CheckStoresRequest* /*request*/,
                                                     v1::CheckStoresResponse* response) {
  return Answer({api_, context}, response, handlers::CheckStores);
}

grpc::ServerUnaryReactor* ServerService::HandOver(grpc::CallbackServerContext* context,
                                                  const v1::HandOverRequest* request,
                                                  v1::HandOverResponse* response) {
  return Answer({api_, context, request->user()}, response, handlers::HandOver, *request);
}

}  // namespace trainyard::controller
