// The gRPC services for the cluster's nodes and for the controller itself.
#ifndef TRAINYARD_CONTROLLER_RPC_NODE_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_NODE_SERVICE_H_

#include "controller/api/context/api.h"
#include "trainyard/v1/node_service.grpc.pb.h"

namespace trainyard::controller {

class NodeService final : public v1::NodeService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit NodeService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override;
  grpc::ServerUnaryReactor* GetNode(grpc::CallbackServerContext* context,
                                    const v1::GetNodeRequest* request,
                                    v1::GetNodeResponse* response) override;
  grpc::ServerUnaryReactor* CordonNode(grpc::CallbackServerContext* context,
                                       const v1::CordonNodeRequest* request,
                                       v1::CordonNodeResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseNode(grpc::CallbackServerContext* context,
                                        const v1::ReleaseNodeRequest* request,
                                        v1::ReleaseNodeResponse* response) override;
  grpc::ServerUnaryReactor* RemoveNode(grpc::CallbackServerContext* context,
                                       const v1::RemoveNodeRequest* request,
                                       v1::RemoveNodeResponse* response) override;
  grpc::ServerUnaryReactor* GetTopology(grpc::CallbackServerContext* context,
                                        const v1::GetTopologyRequest* request,
                                        v1::GetTopologyResponse* response) override;
  grpc::ServerUnaryReactor* SetTopology(grpc::CallbackServerContext* context,
                                        const v1::SetTopologyRequest* request,
                                        v1::SetTopologyResponse* response) override;
  grpc::ServerUnaryReactor* ListReservations(grpc::CallbackServerContext* context,
                                             const v1::ListReservationsRequest* request,
                                             v1::ListReservationsResponse* response) override;
  grpc::ServerUnaryReactor* CreateReservation(grpc::CallbackServerContext* context,
                                              const v1::CreateReservationRequest* request,
                                              v1::CreateReservationResponse* response) override;
  grpc::ServerUnaryReactor* DeleteReservation(grpc::CallbackServerContext* context,
                                              const v1::DeleteReservationRequest* request,
                                              v1::DeleteReservationResponse* response) override;
  grpc::ServerUnaryReactor* CheckNodes(grpc::CallbackServerContext* context,
                                       const v1::CheckNodesRequest* request,
                                       v1::CheckNodesResponse* response) override;

 private:
  const Api& api_;
};

class ServerService final : public v1::ServerService::CallbackService {
 public:
  // `api` must outlive every call.
  explicit ServerService(const Api& api) : api_(api) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* CheckStores(grpc::CallbackServerContext* context,
                                        const v1::CheckStoresRequest* request,
                                        v1::CheckStoresResponse* response) override;
  grpc::ServerUnaryReactor* HandOver(grpc::CallbackServerContext* context,
                                     const v1::HandOverRequest* request,
                                     v1::HandOverResponse* response) override;

 private:
  const Api& api_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_NODE_SERVICE_H_
