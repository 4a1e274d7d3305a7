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

// Asks for the expected end of each job once.
class JobEnds {
 public:
  JobEnds(const ExpectedEnds& expected_ends, Timestamp now)
      : expected_ends_(expected_ends), now_(now) {}

  // Returns now for free slots, which belong to job 0.
  Timestamp Of(int64_t job_id) {
    if (job_id == 0) return now_;
    const auto [end, is_new] = ends_.try_emplace(job_id, now_);
    if (is_new) end->second = std::max(now_, expected_ends_(job_id));
    return end->second;
  }

 private:
  const ExpectedEnds& expected_ends_;
  const Timestamp now_;
  std::unordered_map<int64_t, Timestamp> ends_;
};

}  // namespace

Timestamp LatestEnd(const JobClass& job_class, Timestamp now) {
  return job_class.longest_hold_ms == 0 ? kNever : now + job_class.longest_hold_ms;
}

void OccupySlots(int count, Timestamp end, ReleaseTimes& slots) {
  std::ranges::sort(slots);
  const auto taken = std::min<std::size_t>(static_cast<std::size_t>(count), slots.size());
  std::fill_n(slots.begin(), taken, end);
}

ReleaseTimes* Releases::Find(std::string_view id) {
  const auto found = std::ranges::lower_bound(items_, id, {}, &Item::first);
  return found == items_.end() || found->first != id ? nullptr : &found->second;
}

const ReleaseTimes* Releases::Find(std::string_view id) const {
  const auto found = std::ranges::lower_bound(items_, id, {}, &Item::first);
  return found == items_.end() || found->first != id ? nullptr : &found->second;
}

Releases ReleasesOf(const ClusterState& state, const PlacementPass& pass, v1::DeviceKind kind,
                    const ExpectedEnds& expected_ends, Timestamp now) {
  Releases releases;
  releases.Reserve(state.nodes.size());
  JobEnds ends(expected_ends, now);
  for (const auto& [id, entry] : state.nodes) {
    if (entry.node.state() == v1::NODE_STATE_LOST) continue;
    const Timestamp opens = OpensAt(entry.node, pass.IsOpen(entry), now);
    ReleaseTimes times;
    for (const SlotHolder& holder : entry.holders) {
      if (holder.kind != kind) continue;
      const Timestamp end =
          holder.is_uncleared ? now + kUnknownRunMs : ends.Of(holder.attempt.job_id);
      times.insert(times.end(), static_cast<std::size_t>(holder.slots), std::max(opens, end));
    }
    releases.Add(id, std::move(times));
  }
  return releases;
}

HeadPromise::HeadPromise(const GangShape& shape, bool keeps_nodes, Releases releases,
                         const std::vector<NodeGroup>& groups)
    : shape_(shape),
      keeps_nodes_(keeps_nodes),
      releases_(std::move(releases)),
      fitting_(groups.size(), 0) {
  if (groups.size() > 1 || !groups.front().has_all) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (const std::string& id : groups[i].nodes) group_of_[id] = i;
    }
    Releases in_groups;
    for (const auto& [id, slots] : releases_) {
      if (group_of_.contains(id)) in_groups.Add(id, slots);
    }
    releases_ = std::move(in_groups);
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

std::size_t HeadPromise::GroupOf(std::string_view node_id) const {
  return group_of_.empty() ? 0 : group_of_.find(node_id)->second;
}

std::string HeadPromise::LastNode() const {
  if (promised_ == kNever) return "";
  const auto last = std::ranges::find_if(
      releases_, [&](const Releases::Item& node) { return TimeOf(node.second) == promised_; });
  return last == releases_.end() ? "" : std::string(last->first);
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
    const ReleaseTimes* found = releases_.Find(node.node_id);
    if (found == nullptr || TimeOf(*found) > promised_) continue;
    ReleaseTimes slots = *found;
    OccupySlots(static_cast<int>(node.slots.size()), end, slots);
    if (TimeOf(slots) > promised_) --fitting[GroupOf(node.node_id)];
  }
  return std::ranges::any_of(fitting, [&](const int count) { return count >= shape_.nodes; });
}

std::set<std::string> HeadPromise::NodesNotToTake(int slots, const NodeGroup& group,
                                                  Timestamp now) const {
  std::set<std::string> nodes;
  const auto holds_head = [&](const int fitting) { return fitting >= shape_.nodes; };
  // If a gang takes nodes of one such group, another one holds the head.
  if (promised_ != kNever && std::ranges::count_if(fitting_, holds_head) > 1) return nodes;
  const auto head = std::ranges::find_if(fitting_, holds_head);
  const auto head_group = static_cast<std::size_t>(head - fitting_.begin());
  int spare = head == fitting_.end() ? 0 : *head - shape_.nodes;
  for (const auto& [id, times] : releases_) {
    if (promised_ != kNever && GroupOf(id) != head_group) continue;
    // A gang finds no slots on such a node anyway, so the node is not one to spare.
    if (std::ranges::count_if(times, [&](Timestamp time) { return time <= now; }) < slots) continue;
    if (TimeOf(times) > promised_ || (promised_ == kNever && TimeOf(times) == kNever)) continue;
    ReleaseTimes taken = times;
    OccupySlots(slots, kNever, taken);
    const bool is_needed = promised_ == kNever ? keeps_nodes_ : TimeOf(taken) > promised_;
    if (!is_needed || (group.Contains(std::string(id)) && spare-- > 0)) continue;
    nodes.emplace_hint(nodes.end(), id);
  }
  return nodes;
}

bool HeadPromise::TakesNodeOfHead(const Gang& gang) const {
  return std::ranges::any_of(gang, [&](const NodeSlots& node) {
    const ReleaseTimes* found = releases_.Find(node.node_id);
    return found != nullptr && TimeOf(*found) != kNever;
  });
}

void HeadPromise::Take(const Gang& gang, Timestamp end) {
  for (const NodeSlots& node : gang) {
    ReleaseTimes* found = releases_.Find(node.node_id);
    if (found == nullptr) continue;
    const bool fitted = TimeOf(*found) <= promised_;
    OccupySlots(static_cast<int>(node.slots.size()), end, *found);
    if (fitted && TimeOf(*found) > promised_) --fitting_[GroupOf(node.node_id)];
  }
}

int64_t AwaitedJob(const ClusterState& state, const HeadPromise& promise,
                   const ExpectedEnds& expected_ends) {
  const std::string node = promise.LastNode();
  if (node.empty()) return 0;
  for (const SlotHolder& holder : state.nodes.at(node).holders) {
    const int64_t id = holder.attempt.job_id;
    if (id != 0 && state.live_jobs.contains(id) && expected_ends(id) == promise.promised()) {
      return id;
    }
  }
  return 0;
}

}  // namespace trainyard::controller
