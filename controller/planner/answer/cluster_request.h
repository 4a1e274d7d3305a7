// A cluster as a user requests it, with unchecked names and numbers.
#ifndef TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_
#define TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/planner/calibration.h"
#include "controller/planner/cluster.h"

namespace trainyard::planner {

inline constexpr int64_t kUsualPerNode = 8;

struct ClusterRequest {
  std::string device;
  int64_t nodes = 0;  // 0: as many as the job requests.
  int64_t per_node = kUsualPerNode;
  std::string network;  // Empty: the usual network of the device.
  std::string storage;  // Storage of the token files. If empty, a local disk of each node.
  std::optional<Calibration> calibration;
};

// INVALID_ARGUMENT: there are too many ranks, the calibration is for another device, or the device,
// network or storage is unknown (the message lists the known ones).
absl::StatusOr<Cluster> ClusterFor(const ClusterRequest& request, int64_t usual_nodes);

// Applies the calibration to the cluster's predictions. INVALID_ARGUMENT: the calibration is for
// another device.
absl::Status ApplyCalibration(const Calibration& calibration, Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_
