#include "controller/core/schedule/head_promise.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trainyard::controller {
namespace {

// Returns the time from which the node takes ranks. Nobody knows when a user ends a cordon.
Timestamp OpensAt(const v1::Node& node, bool is_open, Timestamp now) {
  if (is_open) return now;
  return node.cordoned() ? kNever : now + kUnknownRunMs;
}

}  // namespace

Timestamp LatestEnd(const JobClass& job_class, Timestamp now) {
  return job_class.longest_hold_ms == 0 ? kNever : now + job_class.longest_hold_ms;
}

void OccupySlots(int count, Timestamp end, ReleaseTimes& slots) {
  std::ranges::sort(slots);
  const auto taken = std::min<std::size_t>(static_cast<std::size_t>(count), slots.size());
  std::fill_n(slots.begin(), taken, end);
}

std::map<std::string, ReleaseTimes> ReleasesOf(const ClusterState& state, const PlacementPass& pass,
                                               v1::DeviceKind kind,
                                               const ExpectedEnds& expected_ends, Timestamp now) {
  std::map<std::string, ReleaseTimes> releases;
  std::unordered_map<int64_t, Timestamp> ends = {{0, now}};
  for (const auto& [id, entry] : state.nodes) {
    if (entry.node.state() == v1::NODE_STATE_LOST) continue;
    const Timestamp opens = OpensAt(entry.node, pass.IsOpen(entry), now);
    ReleaseTimes times;
    for (int i = 0; i < entry.node.inventory().slots_size(); ++i) {
      if (entry.node.inventory().slots(i).kind() != kind) continue;
      const AttemptKey holder = HolderOf(entry.node.slot_uses(i));
      const auto [end, is_new] = ends.try_emplace(holder.job_id, kNever);
      if (is_new) end->second = std::max(now, expected_ends(holder.job_id));
      const bool is_uncleared = entry.uncleared.contains(holder);
      times.push_back(std::max(opens, is_uncleared ? now + kUnknownRunMs : end->second));
    }
    releases.emplace_hint(releases.end(), id, std::move(times));
  }
  return releases;
}

HeadPromise::HeadPromise(const GangShape& shape, bool keeps_nodes,
                         std::map<std::string, ReleaseTimes> releases,
                         const std::vector<NodeGroup>& groups)
    : shape_(shape),
      keeps_nodes_(keeps_nodes),
      releases_(std::move(releases)),
      fitting_(groups.size(), 0) {
  if (groups.size() > 1 || !groups.front().has_all) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (const std::string& id : groups[i].nodes) group_of_[id] = i;
    }
    std::erase_if(releases_, [&](const auto& node) { return !group_of_.contains(node.first); });
  }
  std::vector<std::vector<Timestamp>> times(groups.size());
  for (const auto& [id, slots] : releases_) times[GroupOf(id)].push_back(TimeOf(slots));
  for (std::vector<Timestamp>& of_group : times) {
    if (static_cast<int>(of_group.size()) < shape_.nodes) continue;
    const auto last = of_group.begin() + (shape_.nodes - 1);
    std::ranges::nth_element(of_group, last);
    promised_ = std::min(promised_, *last);
  }
  if (promised_ == kNever) return;
  for (std::size_t i = 0; i < times.size(); ++i) {
    fitting_[i] = static_cast<int>(
        std::ranges::count_if(times[i], [&](const Timestamp time) { return time <= promised_; }));
  }
}

std::size_t HeadPromise::GroupOf(const std::string& node_id) const {
  return group_of_.empty() ? 0 : group_of_.at(node_id);
}

Timestamp HeadPromise::TimeOf(const ReleaseTimes& slots) const {
  if (static_cast<int>(slots.size()) < shape_.slots_per_node) return kNever;
  ReleaseTimes sorted = slots;
  const auto last = sorted.begin() + (shape_.slots_per_node - 1);
  std::ranges::nth_element(sorted, last);
  return *last;
}

bool HeadPromise::Allows(const Gang& gang, Timestamp end) const {
  if (promised_ == kNever) return !keeps_nodes_ || !TakesNodeOfHead(gang);
  if (end <= promised_) return true;
  std::vector<int> fitting = fitting_;
  for (const NodeSlots& node : gang) {
    const auto found = releases_.find(node.node_id);
    if (found == releases_.end() || TimeOf(found->second) > promised_) continue;
    ReleaseTimes slots = found->second;
    OccupySlots(static_cast<int>(node.slots.size()), end, slots);
    if (TimeOf(slots) > promised_) --fitting[GroupOf(node.node_id)];
  }
  return std::ranges::any_of(fitting, [&](const int count) { return count >= shape_.nodes; });
}

bool HeadPromise::TakesNodeOfHead(const Gang& gang) const {
  return std::ranges::any_of(gang, [&](const NodeSlots& node) {
    const auto found = releases_.find(node.node_id);
    return found != releases_.end() && TimeOf(found->second) != kNever;
  });
}

void HeadPromise::Take(const Gang& gang, Timestamp end) {
  for (const NodeSlots& node : gang) {
    const auto found = releases_.find(node.node_id);
    if (found == releases_.end()) continue;
    const bool fitted = TimeOf(found->second) <= promised_;
    OccupySlots(static_cast<int>(node.slots.size()), end, found->second);
    if (fitted && TimeOf(found->second) > promised_) --fitting_[GroupOf(node.node_id)];
  }
}

}  // namespace trainyard::controller
