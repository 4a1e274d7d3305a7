#include "controller/core/state/slots/slot_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard::controller {
namespace {

SlotRow RowOf(const NodeEntry& entry) {
  SlotRow row{.node_id = entry.node.id(),
              .is_lost = entry.node.state() == v1::NODE_STATE_LOST,
              .takes_ranks = TakesRanks(entry.node),
              .is_cordoned = entry.node.cordoned(),
              .parts = {}};
  for (const SlotHolder& holder : entry.holders) {
    row.parts.push_back({.job_id = holder.attempt.job_id,
                         .slots = holder.slots,
                         .is_gpu = holder.kind == v1::DEVICE_KIND_GPU,
                         .is_uncleared = holder.is_uncleared});
  }
  return row;
}

std::vector<SlotRow>::iterator FindRow(const std::string& node_id, ClusterState& state) {
  return std::ranges::lower_bound(state.slot_rows, node_id, {}, &SlotRow::node_id);
}

}  // namespace

void SetSlotRow(const NodeEntry& entry, ClusterState& state) {
  SlotRow row = RowOf(entry);
  const auto found = FindRow(row.node_id, state);
  if (found != state.slot_rows.end() && found->node_id == row.node_id) {
    *found = std::move(row);
  } else {
    state.slot_rows.insert(found, std::move(row));
  }
}

void RemoveSlotRow(const std::string& node_id, ClusterState& state) {
  const auto found = FindRow(node_id, state);
  if (found != state.slot_rows.end() && found->node_id == node_id) state.slot_rows.erase(found);
}

}  // namespace trainyard::controller
