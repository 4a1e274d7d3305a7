#include "controller/core/apply/removed_nodes.h"

#include <algorithm>

#include "controller/core/state/nodes/node_devices.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/state/slots/slot_rows.h"

namespace trainyard::controller {

void ForgetNode(const std::string& node_id, Timestamp now, ClusterState& state) {
  // Removes the node from all indexes.
  EditNode(
      node_id, [](NodeEntry& entry) { entry.node.set_state(v1::NODE_STATE_UNSPECIFIED); }, state);
  const auto found = state.nodes.find(node_id);
  RemoveDevices(found->second.node, state);
  state.removed_nodes[node_id] = {found->second.fact_sequence, found->second.binding, now};
  state.nodes.erase(found);
  RemoveSlotRow(node_id, state);
  if (state.removed_nodes.size() <= kMaxRemovedNodes) return;
  const auto removed_ms = [](const auto& removed) { return removed.second.removed_ms; };
  state.removed_nodes.erase(std::ranges::min_element(state.removed_nodes, {}, removed_ms));
}

void RecallNode(const std::string& node_id, ClusterState& state) {
  const auto removed = state.removed_nodes.find(node_id);
  if (removed == state.removed_nodes.end()) return;
  NodeEntry& entry = state.nodes.at(node_id);
  entry.fact_sequence = removed->second.fact_sequence;
  entry.binding = removed->second.binding;
  state.removed_nodes.erase(removed);
}

}  // namespace trainyard::controller
