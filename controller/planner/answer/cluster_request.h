// A cluster as people name it: names and numbers, checked.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "controller/planner/cluster.h"

namespace trainyard::planner {

inline constexpr int64_t kUsualPerNode = 8;

struct ClusterRequest {
  std::string device;
  int64_t nodes = 0;  // 0: as many as the job asks for.
  int64_t per_node = kUsualPerNode;
  std::string network;  // Empty: the usual one of the device.
};

// INVALID_ARGUMENT for an unknown device or network, with the known ones, and for too many ranks.
absl::StatusOr<Cluster> ClusterFor(const ClusterRequest& request, int64_t usual_nodes);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_
