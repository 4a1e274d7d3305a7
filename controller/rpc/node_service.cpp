#include "controller/rpc/node_service.h"

#include <algorithm>

namespace trainyard::controller {

grpc::ServerUnaryReactor* NodeService::ListNodes(grpc::CallbackServerContext* context,
                                                 const v1::ListNodesRequest* /*request*/,
                                                 v1::ListNodesResponse* response) {
  auto* reactor = context->DefaultReactor();
  loop_.Read([=](const ClusterView& view) {
    for (const auto& [id, entry] : view.state.nodes) {
      v1::Node& node = *response->add_nodes();
      node = entry.node;
      const auto heard = view.observations.nodes.find(id);
      if (heard == view.observations.nodes.end()) continue;
      node.set_last_heard_ms(std::max(node.last_heard_ms(), heard->second.last_heard_ms));
    }
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerUnaryReactor* ServerService::GetServerInfo(grpc::CallbackServerContext* context,
                                                       const v1::GetServerInfoRequest* /*request*/,
                                                       v1::GetServerInfoResponse* response) {
  auto* reactor = context->DefaultReactor();
  *response = info_;
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace trainyard::controller
