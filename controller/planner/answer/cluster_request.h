// A cluster as people name it: names and numbers, checked.
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
  int64_t nodes = 0;  // 0: as many as the job asks for.
  int64_t per_node = kUsualPerNode;
  std::string network;  // Empty: the usual one of the device.
  std::string storage;  // Of the token files; empty: a disk of each node.
  std::optional<Calibration> calibration;
};

// INVALID_ARGUMENT for an unknown device, network or storage, with the known ones, for too many
// ranks, and for a calibration of another device.
absl::StatusOr<Cluster> ClusterFor(const ClusterRequest& request, int64_t usual_nodes);

// Makes the cluster's predictions those of the calibration. INVALID_ARGUMENT for another device's.
absl::Status ApplyCalibration(const Calibration& calibration, Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_ANSWER_CLUSTER_REQUEST_H_
