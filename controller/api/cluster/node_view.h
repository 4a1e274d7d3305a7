// A node with its newest attempts and the history of its GPUs.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_NODE_VIEW_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_NODE_VIEW_H_

#include <string>
#include <vector>

#include "controller/api/context/api.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// The maximum number of attempts in GetNodeResponse.
inline constexpr std::size_t kNodeAttemptsMax = 50;

// Returns the attempts with ranks on the node, the newest first.
std::vector<v1::NodeAttempt> AttemptsOn(const ClusterState& state, const std::string& node_id);

// Returns, for each GPU of the node, the readings of the last `hours` hours.
std::vector<v1::DeviceHistory> DevicesOf(const v1::Node& node, int hours, const ClusterView& view);

namespace handlers {

void GetNode(const Api& api, const Principal& principal, const v1::GetNodeRequest& request,
             Reply<v1::GetNodeResponse> reply);

}  // namespace handlers
}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_NODE_VIEW_H_
