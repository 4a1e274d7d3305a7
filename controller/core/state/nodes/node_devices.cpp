#include "controller/core/state/nodes/node_devices.h"

#include <set>

#include "absl/strings/str_join.h"

namespace trainyard::controller {

std::string DeviceOf(const v1::Node& node, v1::DeviceKind kind) {
  if (kind == v1::DEVICE_KIND_CPU) return "cpu";
  std::set<std::string> models;
  for (const v1::Slot& slot : node.inventory().slots()) {
    if (slot.kind() == kind) models.insert(slot.model());
  }
  return absl::StrJoin(models, ", ");
}

void AddDevices(const v1::Node& node, ClusterState& state) {
  for (const v1::DeviceKind kind : kDeviceKinds) {
    if (TotalSlots(node, kind) == 0) continue;
    state.nodes_by_device[kind][DeviceOf(node, kind)].insert(node.id());
  }
}

void RemoveDevices(const v1::Node& node, ClusterState& state) {
  for (const v1::DeviceKind kind : kDeviceKinds) {
    const auto devices = state.nodes_by_device.find(kind);
    if (devices == state.nodes_by_device.end()) continue;
    const auto nodes = devices->second.find(DeviceOf(node, kind));
    if (nodes == devices->second.end()) continue;
    nodes->second.erase(node.id());
    if (nodes->second.empty()) devices->second.erase(nodes);
    if (devices->second.empty()) state.nodes_by_device.erase(devices);
  }
}

}  // namespace trainyard::controller
