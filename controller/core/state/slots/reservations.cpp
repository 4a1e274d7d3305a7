#include "controller/core/state/slots/reservations.h"

namespace trainyard::controller {

const Reservation* FindReservation(const ClusterState& state, const NodeEntry& node, int position) {
  const auto found = state.reservations.find(node.node.slot_uses(position).job_id());
  if (found == state.reservations.end()) return nullptr;
  const auto slots = found->second.slots.find(node.node.id());
  const bool is_included = slots != found->second.slots.end() &&
                           slots->second.contains(node.node.inventory().slots(position).index());
  return is_included ? &found->second : nullptr;
}

void Reserve(const v1::Job& job, ClusterState& state) {
  const v1::Attempt& ended = *job.attempts().rbegin();
  const AttemptKey key{job.id(), ended.number()};
  state.reservations[job.id()] = {.attempt = key, .slots = {}};
  for (const std::string& node_id : GangNodes(ended)) {
    const auto node = state.nodes.find(node_id);
    const bool is_clear = node != state.nodes.end() && !node->second.uncleared.contains(key);
    if (is_clear) ReserveOn(key, node->second, state);
  }
}

void ReserveOn(const AttemptKey& attempt, const NodeEntry& node, ClusterState& state) {
  Reservation& reservation = state.reservations.at(attempt.job_id);
  for (int i = 0; i < node.node.inventory().slots_size(); ++i) {
    if (HolderOf(node.node.slot_uses(i)) != attempt) continue;
    reservation.slots[node.node.id()].insert(node.node.inventory().slots(i).index());
  }
}

void Unreserve(int64_t job_id, const std::string& node_id, int slot, ClusterState& state) {
  auto& slots = state.reservations.at(job_id).slots;
  const auto on_node = slots.find(node_id);
  on_node->second.erase(slot);
  if (on_node->second.empty()) slots.erase(on_node);
}

}  // namespace trainyard::controller
