#include "controller/core/schedule/planned_cluster.h"

#include <vector>

#include "absl/strings/str_split.h"

namespace trainyard::controller {
namespace {

constexpr char kDeviceSeparator[] = ", ";

// Returns the specs of the gang's slot kinds. If the spec of a kind is unknown, returns an empty
// list and stores the kind's name in `unknown`.
std::vector<const planner::DeviceSpec*> SpecsOf(const GangShape& shape, const std::string& device,
                                                std::string& unknown) {
  if (shape.kind == v1::DEVICE_KIND_CPU) return {&planner::CpuSlotSpec()};
  std::vector<const planner::DeviceSpec*> specs;
  for (const absl::string_view model : absl::StrSplit(device, kDeviceSeparator)) {
    specs.push_back(planner::FindDeviceSpec(std::string(model)));
    if (specs.back() != nullptr) continue;
    unknown = std::string(model);
    return {};
  }
  return specs;
}

}  // namespace

std::string FillCluster(const GangShape& shape, const std::string& device,
                        PlannedCluster& planned) {
  std::string unknown;
  const std::vector<const planner::DeviceSpec*> specs = SpecsOf(shape, device, unknown);
  if (specs.empty()) return unknown;
  planner::MixDevices(specs, planned.mixed);
  planner::Cluster& cluster = planned.cluster;
  cluster.device = &planned.mixed.spec;
  cluster.nodes = shape.nodes;
  cluster.per_node = shape.slots_per_node;
  cluster.network = *planner::FindNetwork(cluster.device->network);
  return "";
}

}  // namespace trainyard::controller
