#include "controller/core/state/nodes/host_capacity.h"

#include "absl/strings/str_cat.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {

HostAmount HostOf(const v1::Node& node) {
  return {node.inventory().cpu_cores(), node.inventory().memory_bytes()};
}

HostAmount HostRequestOf(const v1::SlotUse& use) {
  return {use.requested_cpus(), use.requested_memory_bytes()};
}

bool CouldHold(const v1::Node& node, const GangShape& shape) {
  return TotalSlots(node, shape.kind) >= shape.slots_per_node &&
         HostOf(node).Covers(shape.HostPerNode());
}

std::string GangText(const GangShape& shape) {
  const std::string slots = ShapeText(shape.nodes, shape.slots_per_node, shape.kind);
  if (shape.host.IsZero()) return slots;
  return absl::StrCat(slots, ", and ", HostText(shape.host), " per rank");
}

std::string HostText(const HostAmount& amount) {
  const std::string cpus = amount.cpus == 0 ? "" : Counted(amount.cpus, "CPU");
  if (amount.memory_bytes == 0) return cpus;
  return absl::StrCat(cpus, cpus.empty() ? "" : " and ", MemoryText(amount.memory_bytes),
                      " of memory");
}

}  // namespace trainyard::controller
