#include "controller/core/schedule/slot_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/core/schedule/host_releases.h"

namespace trainyard::controller {
namespace {

// Later times are tried at most this often for one head. A time fails only if a node that was free
// is claimed by an earlier head, so few rounds suffice.
constexpr int kMostRounds = 64;

// Returns the slots that the gang has on the node; 0 if the node is not in the gang.
int SlotsOn(const Gang& gang, std::string_view id) {
  const auto found = std::ranges::find(gang, id, &NodeSlots::node_id);
  return found == gang.end() ? 0 : static_cast<int>(found->slots.size());
}

}  // namespace

void SlotPlan::SetTimes(const Head& head, ReleaseTimes slots, NodeTimes& node) {
  node.slots = std::move(slots);
  std::ranges::sort(node.slots);
  const auto needed = static_cast<std::size_t>(head.shape.slots_per_node);
  node.fits = node.slots.size() < needed ? kNever : node.slots[needed - 1];
}

std::optional<std::size_t> SlotPlan::IndexOf(const std::vector<NodeTimes>& nodes,
                                             std::string_view id) {
  const auto found = std::ranges::lower_bound(nodes, id, {}, &NodeTimes::id);
  if (found == nodes.end() || found->id != id) return std::nullopt;
  return static_cast<std::size_t>(found - nodes.begin());
}

int SlotPlan::FreeAt(const SharedNode& node, Timestamp time) {
  auto free = static_cast<int>(std::ranges::upper_bound(node.slots, time) - node.slots.begin());
  for (const Claim& claim : node.claims) {
    if (claim.from <= time && time < claim.until) free -= claim.slots;
  }
  return free;
}

bool SlotPlan::IsFree(const Head& head, const SharedNode& node, Timestamp time) {
  // Slots become fewer only when a claim begins.
  const int needed = head.shape.slots_per_node;
  return FreeAt(node, time) >= needed && std::ranges::all_of(node.claims, [&](const Claim& claim) {
           const bool begins = time < claim.from && claim.from < time + head.hold_ms;
           return !begins || FreeAt(node, claim.from) >= needed;
         });
}

Timestamp SlotPlan::Earliest(const Head& head, const SharedNode& node, Timestamp from) {
  std::vector<Timestamp> times = {from};
  for (const Timestamp time : node.slots) times.push_back(time);
  for (const Claim& claim : node.claims) times.push_back(claim.until);
  std::ranges::sort(times);
  for (const Timestamp time : times) {
    if (time >= from && time != kNever && IsFree(head, node, time)) return time;
  }
  return kNever;
}

SlotPlan::SharedNode SlotPlan::Shared(const Head& head, const std::vector<NodeTimes>& nodes,
                                      std::size_t index, const Claims& claims,
                                      const GangUntil* started) const {
  const NodeTimes& node = nodes[index];
  SharedNode shared{.index = index, .slots = node.slots};
  if (const auto found = claims.find(node.id); found != claims.end()) {
    for (Claim claim : found->second) {
      claim.slots = SeatsTaken(claim.slots, heads_[claim.head].shape.host, head.shape);
      shared.claims.push_back(claim);
    }
  }
  const int slots = started == nullptr ? 0 : SlotsOn(started->gang, node.id);
  if (slots > 0) {
    OccupySlots(SeatsTaken(slots, started->host, head.shape), started->end, shared.slots);
    std::ranges::sort(shared.slots);
  }
  return shared;
}

std::vector<SlotPlan::SharedNode> SlotPlan::SharedNodes(const Head& head,
                                                        const std::vector<NodeTimes>& nodes,
                                                        const Claims& claims,
                                                        const GangUntil* started) const {
  std::set<std::size_t> indexes;
  for (const auto& [id, of_node] : claims) {
    if (const auto index = IndexOf(nodes, id)) indexes.insert(*index);
  }
  if (started != nullptr) {
    for (const NodeSlots& node : started->gang) {
      if (const auto index = IndexOf(nodes, node.node_id)) indexes.insert(*index);
    }
  }
  std::vector<SharedNode> shared;
  for (const std::size_t index : indexes) {
    shared.push_back(Shared(head, nodes, index, claims, started));
  }
  return shared;
}

SlotPlan::Found SlotPlan::FindIn(const Head& head, const std::vector<NodeTimes>& nodes,
                                 const Claims& claims, const GangUntil* started) const {
  const auto count = static_cast<std::size_t>(head.shape.nodes);
  if (nodes.size() < count) return {};
  const std::vector<SharedNode> shared = SharedNodes(head, nodes, claims, started);
  std::vector<Timestamp> starts;
  starts.reserve(nodes.size());
  for (const NodeTimes& node : nodes) starts.push_back(node.fits);
  Timestamp time = now_;
  for (int round = 0; round < kMostRounds; ++round) {
    for (const SharedNode& node : shared) starts[node.index] = Earliest(head, node, time);
    std::vector<Timestamp> sorted = starts;
    const auto last = sorted.begin() + (head.shape.nodes - 1);
    std::ranges::nth_element(sorted, last);
    if (*last == kNever) return {};
    // Shared nodes that are free at an earlier time need not be free at this one.
    if (*last > time && (time = *last, !shared.empty())) continue;
    // Kept slots first, then the fewest free slots, then the lowest id.
    std::vector<std::tuple<bool, int, std::size_t>> free;
    auto next = shared.begin();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      while (next != shared.end() && next->index < i) ++next;
      if (starts[i] > time) continue;
      const bool is_shared = next != shared.end() && next->index == i;
      const int slots = is_shared ? FreeAt(*next, time) : FreeAt({i, nodes[i].slots, {}}, time);
      free.emplace_back(!head.kept.contains(nodes[i].id), slots, i);
    }
    std::ranges::nth_element(free, free.begin() + (head.shape.nodes - 1));
    Found found{.time = time};
    for (std::size_t i = 0; i < count; ++i) found.nodes.push_back(nodes[std::get<2>(free[i])].id);
    return found;
  }
  return {};
}

SlotPlan::Found SlotPlan::FindFor(const Head& head, const Claims& claims,
                                  const GangUntil* started) const {
  Found earliest;
  for (const std::vector<NodeTimes>& nodes : head.groups) {
    Found found = FindIn(head, nodes, claims, started);
    if (found.time < earliest.time) earliest = std::move(found);
  }
  return earliest;
}

void SlotPlan::AddClaims(std::size_t head, const Found& found, Claims& claims) const {
  for (const std::string& id : found.nodes) {
    const auto kept = heads_[head].kept.find(id);
    const int slots =
        heads_[head].shape.slots_per_node - (kept == heads_[head].kept.end() ? 0 : kept->second);
    claims[id].push_back({head, found.time, found.time + heads_[head].hold_ms, std::max(slots, 0)});
  }
}

Timestamp SlotPlan::Add(const HeadToPlan& head) {
  Head& added = heads_.emplace_back(Head{head.shape, head.hold_ms, head.kept, {}, kNever});
  for (const NodeGroup& group : head.groups) {
    std::vector<NodeTimes>& nodes = added.groups.emplace_back();
    for (const auto& [id, slots] : head.releases) {
      std::string name(id);
      if (!group.Contains(name)) continue;
      SetTimes(added, slots, nodes.emplace_back(NodeTimes{std::move(name), {}, kNever}));
    }
  }
  const Found found = FindFor(added, claims_, nullptr);
  added.promised = found.time;
  AddClaims(heads_.size() - 1, found, claims_);
  return found.time;
}

bool SlotPlan::Allows(const GangUntil& started) const {
  const auto is_over = [&](const Head& head) { return started.end <= head.promised; };
  // Slots that are free again before the first head starts do not change the plan.
  if (std::ranges::all_of(heads_, is_over)) return true;
  Claims claims;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const Found found = FindFor(heads_[i], claims, &started);
    if (found.time > heads_[i].promised) return false;
    AddClaims(i, found, claims);
  }
  return true;
}

bool SlotPlan::HoldsBeside(const Claim& claim, const std::string& id,
                           const GangUntil& started) const {
  const Head& head = heads_[claim.head];
  for (const std::vector<NodeTimes>& nodes : head.groups) {
    const auto index = IndexOf(nodes, id);
    if (!index.has_value()) continue;
    SharedNode shared = Shared(head, nodes, *index, claims_, &started);
    std::erase_if(shared.claims, [&](const Claim& other) { return other.head >= claim.head; });
    return IsFree(head, shared, claim.from);
  }
  return true;
}

std::set<std::string> SlotPlan::NodesNotToTake(int slots, const HostAmount& host,
                                               Timestamp end) const {
  std::set<std::string> nodes;
  for (const auto& [id, claims] : claims_) {
    const Gang gang = {{id, std::vector<int>(static_cast<std::size_t>(slots))}};
    const GangUntil started{gang, host, end};
    const bool holds = std::ranges::all_of(
        claims, [&](const Claim& claim) { return HoldsBeside(claim, id, started); });
    if (!holds) nodes.emplace_hint(nodes.end(), id);
  }
  return nodes;
}

void SlotPlan::Take(const GangUntil& started) {
  for (Head& head : heads_) {
    for (std::vector<NodeTimes>& nodes : head.groups) {
      for (const NodeSlots& node : started.gang) {
        const auto index = IndexOf(nodes, node.node_id);
        if (!index.has_value()) continue;
        ReleaseTimes slots = nodes[*index].slots;
        const int count = static_cast<int>(node.slots.size());
        OccupySlots(SeatsTaken(count, started.host, head.shape), started.end, slots);
        SetTimes(head, std::move(slots), nodes[*index]);
      }
    }
  }
  claims_.clear();
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    AddClaims(i, FindFor(heads_[i], claims_, nullptr), claims_);
  }
}

}  // namespace trainyard::controller
