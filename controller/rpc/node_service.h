// Nodes of the cluster, and the controller itself.
#ifndef TRAINYARD_CONTROLLER_RPC_NODE_SERVICE_H_
#define TRAINYARD_CONTROLLER_RPC_NODE_SERVICE_H_

#include <utility>

#include "controller/rpc/cluster_loop.h"
#include "trainyard/v1/node_service.grpc.pb.h"

namespace trainyard::controller {

class NodeService final : public v1::NodeService::CallbackService {
 public:
  // `loop` outlives every call.
  explicit NodeService(ClusterLoop& loop) : loop_(loop) {}

  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override;

 private:
  ClusterLoop& loop_;
};

class ServerService final : public v1::ServerService::CallbackService {
 public:
  explicit ServerService(v1::GetServerInfoResponse info) : info_(std::move(info)) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;

 private:
  const v1::GetServerInfoResponse info_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_NODE_SERVICE_H_
