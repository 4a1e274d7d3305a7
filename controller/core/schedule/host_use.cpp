#include "controller/core/schedule/host_use.h"

#include "controller/core/state/nodes/host_capacity.h"

namespace trainyard::controller {

void HostUse::Take(const Gang& gang, const GangShape& shape) {
  if (shape.host.IsZero()) return;
  for (const NodeSlots& node : gang) {
    HostAmount& requested = requested_[node.node_id];
    requested = requested + shape.host * static_cast<int64_t>(node.slots.size());
  }
}

bool HostUse::Holds(const NodeEntry& node, const GangShape& shape) const {
  if (shape.host.IsZero()) return true;
  return LeftOn(node, {}).Covers(shape.HostPerNode());
}

bool HostUse::HoldsOn(const NodeEntry& node, const NodeSlots& slots, const GangShape& shape) const {
  if (shape.host.IsZero()) return true;
  return LeftOn(node, {slots.slots.begin(), slots.slots.end()}).Covers(shape.HostPerNode());
}

// `released`: the indexes of slots whose present ranks no longer count.
HostAmount HostUse::LeftOn(const NodeEntry& node, const std::set<int>& released) const {
  const auto taken = taken_.find(node.node.id());
  if (taken == taken_.end() && released.empty()) return node.free_host;
  HostAmount left = HostOf(node.node);
  for (int i = 0; i < node.node.inventory().slots_size(); ++i) {
    // A slot that the pass has assigned was free or reserved. The reservation ends.
    if (taken != taken_.end() && taken->second.contains(i)) continue;
    if (released.contains(node.node.inventory().slots(i).index())) continue;
    left = left - HostRequestOf(node.node.slot_uses(i));
  }
  const auto requested = requested_.find(node.node.id());
  return requested == requested_.end() ? left : left - requested->second;
}

}  // namespace trainyard::controller
