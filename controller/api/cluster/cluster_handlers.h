// Request handlers for nodes and the controller itself. Error codes: node_service.proto.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_CLUSTER_HANDLERS_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_CLUSTER_HANDLERS_H_

#include "controller/api/context/api.h"
#include "controller/core/state/nodes/node_reservations.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

namespace handlers {

void ListNodes(const Api& api, const Principal& principal, Reply<v1::ListNodesResponse> reply);
void CordonNode(const Api& api, const Principal& principal, v1::CordonNodeRequest request,
                Reply<v1::CordonNodeResponse> reply);
void ReleaseNode(const Api& api, const Principal& principal, v1::ReleaseNodeRequest request,
                 Reply<v1::ReleaseNodeResponse> reply);
void GetTopology(const Api& api, const Principal& principal, Reply<v1::GetTopologyResponse> reply);
void SetTopology(const Api& api, const Principal& principal, v1::SetTopologyRequest request,
                 Reply<v1::SetTopologyResponse> reply);
void RemoveNode(const Api& api, const Principal& principal, v1::RemoveNodeRequest request,
                Reply<v1::RemoveNodeResponse> reply);
void CheckNodes(const Api& api, const Principal& principal, Reply<v1::CheckNodesResponse> reply);
void CheckStores(const Api& api, const Principal& principal, Reply<v1::CheckStoresResponse> reply);
void GetServerInfo(const Api& api, const Principal& principal,
                   Reply<v1::GetServerInfoResponse> reply);

}  // namespace handlers

// Adds the node's reservations by users.
void AddReservations(const ReservedNodes& reserved, v1::Node& node);

// Returns the node, including the time of its newest heartbeat, but without reservations. Call on
// the loop thread.
v1::Node NodeNow(const NodeEntry& entry, const ClusterView& view);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_CLUSTER_HANDLERS_H_
