#include "controller/core/schedule/gang_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/core/schedule/close_nodes.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/nodes/topology.h"

namespace trainyard::controller {

std::vector<v1::RankPlacement> RanksOf(const Gang& gang, int training_nodes) {
  std::vector<v1::RankPlacement> ranks;
  if (!gang.empty()) ranks.reserve(gang.size() * gang.front().slots.size());
  for (std::size_t i = 0; i < gang.size(); ++i) {
    const NodeSlots& node = gang[i];
    for (std::size_t local = 0; local < node.slots.size(); ++local) {
      v1::RankPlacement& rank = ranks.emplace_back();
      rank.set_rank(static_cast<int>(ranks.size()) - 1);
      rank.set_node_id(node.node_id);
      rank.set_local_rank(static_cast<int>(local));
      rank.set_slot(node.slots[local]);
      rank.set_standby(static_cast<int>(i) >= training_nodes);
    }
  }
  return ranks;
}

Gang GangOf(const v1::Attempt& attempt) {
  std::vector<const v1::RankPlacement*> members = SeatedMembers(attempt);
  for (const v1::RankPlacement& member : attempt.ranks()) {
    if (IsStandby(member)) members.push_back(&member);
  }
  Gang gang;
  for (const v1::RankPlacement* member : members) {
    if (gang.empty() || gang.back().node_id != member->node_id()) {
      gang.push_back({member->node_id(), {}});
    }
    gang.back().slots.push_back(member->slot());
  }
  return gang;
}

void SortByPlace(const ClusterState& state, Gang& gang) {
  std::ranges::sort(gang, {}, [&](const NodeSlots& slots) {
    const v1::Node& node = state.nodes.at(slots.node_id).node;
    return std::make_tuple(TopologyPath(state, node), node.name(), slots.node_id);
  });
}

namespace {

std::optional<Gang> PlaceOnEmptyGroup(const ClusterState& state, const GangShape& shape,
                                      const NodeGroup& group) {
  std::vector<std::pair<int, std::string>> fitting;
  for (const auto& [id, entry] : state.nodes) {
    const int total = TotalSlots(entry.node, shape.kind);
    const bool joined = entry.node.state() != v1::NODE_STATE_LOST;
    if (joined && CouldHold(entry.node, shape) && group.Contains(id)) {
      fitting.emplace_back(total, id);
    }
  }
  if (static_cast<int>(fitting.size()) < shape.nodes) return std::nullopt;
  std::ranges::sort(fitting);
  std::vector<CloseNode> candidates;
  for (const auto& [total, id] : fitting) {
    candidates.push_back({id, TopologyPath(state, state.nodes.at(id).node)});
  }
  Gang gang;
  for (const std::string& id :
       ChooseCloseNodes(candidates, static_cast<std::size_t>(shape.nodes), {})) {
    NodeSlots node{id, {}};
    for (const v1::Slot& slot : state.nodes.at(node.node_id).node.inventory().slots()) {
      const bool needed = static_cast<int>(node.slots.size()) < shape.slots_per_node;
      if (needed && slot.kind() == shape.kind) node.slots.push_back(slot.index());
    }
    gang.push_back(std::move(node));
  }
  SortByPlace(state, gang);
  return gang;
}

}  // namespace

std::optional<Gang> PlaceOnEmptyCluster(const ClusterState& state, const GangShape& shape,
                                        const v1::JobSpec& spec) {
  for (const NodeGroup& group : GroupsOf(state, spec, shape.kind)) {
    if (!shape.device.empty() && group.device != shape.device) continue;
    if (auto gang = PlaceOnEmptyGroup(state, shape, group)) return gang;
  }
  return std::nullopt;
}

}  // namespace trainyard::controller
