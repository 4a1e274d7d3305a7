#include "controller/planner/answer/cluster_request.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"

namespace trainyard::planner {
namespace {

std::string KnownDeviceNames() {
  std::vector<std::string> names;
  for (const DeviceSpec& spec : KnownDeviceSpecs()) names.emplace_back(spec.rating->name);
  return absl::StrJoin(names, ", ");
}

std::string KnownNetworkNames() {
  std::vector<std::string> names;
  for (const Link& network : KnownNetworks()) names.emplace_back(network.name);
  return absl::StrJoin(names, ", ");
}

std::string KnownStorageNames() {
  std::vector<std::string> names;
  for (const Storage& storage : KnownStorages()) names.emplace_back(storage.name);
  return absl::StrJoin(names, ", ");
}

absl::Status CheckSizes(const Cluster& cluster) {
  if (cluster.nodes < 1 || cluster.nodes > kMaxRanks) {
    return absl::InvalidArgumentError(absl::StrCat("a cluster has 1 to ", kMaxRanks, " nodes, but ",
                                                   cluster.nodes, " were given"));
  }
  if (cluster.per_node < 1 || cluster.per_node > kMaxSlotsOfNode) {
    return absl::InvalidArgumentError(absl::StrCat("a node has 1 to ", kMaxSlotsOfNode,
                                                   " GPUs, but ", cluster.per_node, " were given"));
  }
  if (cluster.devices() <= kMaxRanks) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(cluster.nodes, " nodes with ", cluster.per_node,
                                                 " GPUs each have ", cluster.devices(),
                                                 " ranks; at most ", kMaxRanks, " are supported"));
}

}  // namespace

absl::StatusOr<Cluster> ClusterFor(const ClusterRequest& request, int64_t usual_nodes) {
  Cluster cluster;
  cluster.device = FindDeviceSpec(request.device);
  if (cluster.device == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown device `", request.device,
                                                   "`; known values are ", KnownDeviceNames()));
  }
  cluster.device_note = DeviceNote(request.device, *cluster.device);
  const std::string network =
      request.network.empty() ? std::string(cluster.device->network) : request.network;
  const Link* link = FindNetwork(network);
  if (link == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown network `", network, "`; known values are ", KnownNetworkNames()));
  }
  cluster.network = *link;
  cluster.storage = FindStorage(request.storage.empty() ? "nvme" : request.storage);
  if (cluster.storage == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown storage `", request.storage,
                                                   "`; known values are ", KnownStorageNames()));
  }
  cluster.nodes = request.nodes == 0 ? usual_nodes : request.nodes;
  cluster.per_node = request.per_node;
  TRAINYARD_RETURN_IF_ERROR(CheckSizes(cluster));
  if (request.calibration.has_value()) {
    TRAINYARD_RETURN_IF_ERROR(ApplyCalibration(*request.calibration, cluster));
  }
  return cluster;
}

absl::Status ApplyCalibration(const Calibration& calibration, Cluster& cluster) {
  const std::string device(cluster.device->rating->name);
  if (calibration.device != device) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the calibration was measured on ", calibration.device, ", but the plan is for ", device));
  }
  cluster.scale = calibration.scale;
  return absl::OkStatus();
}

}  // namespace trainyard::planner
