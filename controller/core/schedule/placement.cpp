#include "controller/core/schedule/placement.h"

#include <algorithm>
#include <climits>
#include <tuple>
#include <utility>

#include "controller/core/health/quarantine.h"
#include "controller/core/schedule/close_nodes.h"
#include "controller/core/schedule/gang_order.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/nodes/topology.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/reservations.h"
#include "controller/core/verdict/verdict_facts.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {
namespace {

bool HasSlotsOf(const Gang& gang, const GangShape& shape) {
  return std::ranges::all_of(gang, [&](const NodeSlots& node) {
    return static_cast<int>(node.slots.size()) == shape.slots_per_node;
  });
}

std::set<std::string> KeptNodes(const std::vector<std::optional<NodeSlots>>& gang) {
  std::set<std::string> ids;
  for (const auto& node : gang) {
    if (node.has_value()) ids.insert(node->node_id);
  }
  return ids;
}

// Sorts by descending score, then by id. Scores are computed for the time of the newest evidence;
// the order of the scores is the same at any time.
void SortByScore(const ClusterState& state, std::vector<std::string>& ids) {
  Timestamp newest = 0;
  for (const std::string& id : ids) {
    newest = std::max(newest, state.nodes.at(id).node.evidence().rbegin()->time_ms());
  }
  std::ranges::sort(ids, {}, [&](const std::string& id) {
    return std::make_pair(-ScoreOf(state.nodes.at(id).node, newest), id);
  });
}

// Adds accepted ids from a range until `ids` has `wanted` elements.
template <typename Iterator, typename Accept>
void Gather(Iterator next, Iterator end, std::size_t wanted, const Accept& accept,
            std::vector<std::string>& ids) {
  for (; next != end && ids.size() < wanted; ++next) {
    if (accept(*next)) ids.push_back(*next);
  }
}

const NodesByFreeSlots& BucketsOf(const std::map<v1::DeviceKind, NodesByFreeSlots>& index,
                                  v1::DeviceKind kind) {
  static const NodesByFreeSlots kNone;
  const auto found = index.find(kind);
  return found == index.end() ? kNone : found->second;
}

}  // namespace

PlacementPass::PlacementPass(const ClusterState& state, NodeLimits limits)
    : state_(state), limits_(std::move(limits)), reserved_(state, limits_.now) {}

bool PlacementPass::IsOpen(const NodeEntry& node) const {
  const std::string& id = node.node.id();
  return TakesRanks(node.node) && !limits_.changing.contains(id) && !limits_.closed.contains(id) &&
         (choice_ == nullptr || choice_->Allows(id)) && !avoided_.contains(id) &&
         (reserved_for_others_ == nullptr || !reserved_for_others_->contains(id));
}

const std::set<std::string>* PlacementPass::ReservedForOthers(const JobEntry& job) const {
  return reserved_.empty() ? nullptr : reserved_.ClosedFor(ClassOf(job.job));
}

bool PlacementPass::IsUsable(const NodeEntry& node, int position, const JobEntry& job,
                             bool over_reservations) {
  const auto taken = taken_.find(node.node.id());
  if (taken != taken_.end() && taken->second.contains(position)) return false;
  const int64_t holder = node.node.slot_uses(position).job_id();
  if (holder == 0) return true;
  if (FindReservation(state_, node, position) == nullptr) return false;
  if (holder == job.job.id()) return true;
  return over_reservations && QueueKeyOf(job.job) < QueueKeyOf(state_.jobs.at(holder).job);
}

std::optional<NodeSlots> PlacementPass::TakeFrom(const NodeEntry& node, const JobEntry& job,
                                                 const GangShape& shape,
                                                 const std::vector<int>& preferred,
                                                 bool over_reservations) {
  // Candidate slots: first the job's own slots, then free slots, then slots that other jobs have
  // reserved. In each group the lowest index comes first.
  std::vector<std::tuple<int, int>> candidates;
  for (int i = 0; i < node.node.inventory().slots_size(); ++i) {
    const v1::Slot& slot = node.node.inventory().slots(i);
    if (slot.kind() != shape.kind || !IsUsable(node, i, job, over_reservations)) continue;
    const int64_t holder = node.node.slot_uses(i).job_id();
    const int rank = std::ranges::count(preferred, slot.index()) > 0 ? 0 : holder == 0 ? 1 : 2;
    candidates.emplace_back(rank, slot.index());
  }
  if (static_cast<int>(candidates.size()) < shape.slots_per_node) return std::nullopt;
  std::ranges::sort(candidates);
  NodeSlots chosen{node.node.id(), {}};
  for (int i = 0; i < shape.slots_per_node; ++i) {
    chosen.slots.push_back(std::get<1>(candidates[i]));
  }
  std::ranges::sort(chosen.slots);
  if (!host_use_.HoldsOn(node, chosen, shape)) return std::nullopt;
  return chosen;
}

// In a gang of the same size, each remaining node keeps its position. In a gang of another size,
// the remaining nodes close the gaps.
bool PlacementPass::KeepGang(const JobEntry& job, const GangShape& shape,
                             std::vector<std::optional<NodeSlots>>& gang) {
  gang.assign(shape.nodes, std::nullopt);
  const v1::Attempt* before = NewestAttempt(job);
  if (before == nullptr) return true;
  const Gang old_gang = GangOf(*before);
  if (!HasSlotsOf(old_gang, shape)) return true;
  const bool same_size = old_gang.size() == gang.size();
  std::size_t next = 0;
  const AttemptKey key{job.job.id(), before->number()};
  const std::set<std::string> to_avoid = NodesToAvoid(job.job);
  for (std::size_t i = 0; i < old_gang.size(); ++i) {
    // A node of a paused job may have been removed in the meantime. An elastic job may have given
    // up a node for another job.
    const auto found = state_.nodes.find(old_gang[i].node_id);
    if (found == state_.nodes.end() || !KeepsNode(*before, old_gang[i].node_id)) continue;
    const NodeEntry& node = found->second;
    // Old ranks of the job may still run on this node, so the node cannot be used.
    if (node.uncleared.contains(key)) continue;
    const bool suspect =
        node.node.state() == v1::NODE_STATE_SUSPECT || limits_.changing.contains(node.node.id());
    // The job's slots on the suspect node are still reserved, so the job waits for the node. After
    // a pause there is no reservation, and the job need not wait.
    if (suspect && state_.reservations.contains(job.job.id())) return false;
    if (suspect) continue;
    if (!IsOpen(node) || to_avoid.contains(node.node.id())) continue;
    const std::size_t place = same_size ? i : next;
    if (place == gang.size()) continue;
    gang[place] = TakeFrom(node, job, shape, old_gang[i].slots, false);
    if (gang[place].has_value()) ++next;
  }
  return true;
}

std::set<std::string>::const_iterator PlacementPass::FirstUntouched(
    v1::DeviceKind kind, int free, const std::set<std::string>& bucket) {
  auto& first = first_untouched_.try_emplace({kind, free}, bucket.begin()).first->second;
  while (first != bucket.end() && taken_.contains(*first)) ++first;
  return first;
}

std::vector<std::string> PlacementPass::PickNodes(const GangShape& shape, int count,
                                                  const std::set<std::string>& not_these) {
  const NodesByFreeSlots& untouched = BucketsOf(state_.free_nodes, shape.kind);
  const NodesByFreeSlots& touched = BucketsOf(touched_, shape.kind);
  const auto allowed = [&](const std::string& id) {
    return !limits_.changing.contains(id) && !limits_.closed.contains(id) &&
           (choice_ == nullptr || choice_->Allows(id)) && !avoided_.contains(id) &&
           !not_these.contains(id) &&
           (reserved_for_others_ == nullptr || !reserved_for_others_->contains(id)) &&
           host_use_.Holds(state_.nodes.at(id), shape);
  };
  std::set<int> counts;
  for (const auto& [free, ids] : untouched) counts.insert(free);
  for (const auto& [free, ids] : touched) counts.insert(free);
  const auto gather = [&](int free, std::size_t most, const auto& accept) {
    std::vector<std::string> ids;
    if (const auto bucket = untouched.find(free); bucket != untouched.end()) {
      Gather(
          FirstUntouched(shape.kind, free, bucket->second), bucket->second.end(), most,
          [&](const std::string& id) { return !taken_.contains(id) && accept(id); }, ids);
    }
    if (const auto bucket = touched.find(free); bucket != touched.end()) {
      Gather(bucket->second.begin(), bucket->second.end(), ids.size() + most, accept, ids);
    }
    std::ranges::sort(ids);
    return ids;
  };
  const auto is_blamed = [&](const std::string& id) { return state_.blamed_nodes.contains(id); };
  std::vector<std::string> picked;
  const std::size_t wanted = static_cast<std::size_t>(count);
  for (auto free = counts.lower_bound(shape.slots_per_node);
       free != counts.end() && picked.size() < wanted; ++free) {
    const std::size_t missing = wanted - picked.size();
    std::vector<std::string> ids =
        gather(*free, missing, [&](const auto& id) { return allowed(id) && !is_blamed(id); });
    if (ids.size() < missing && !state_.blamed_nodes.empty()) {
      std::vector<std::string> blamed =
          gather(*free, state_.blamed_nodes.size(),
                 [&](const auto& id) { return allowed(id) && is_blamed(id); });
      SortByScore(state_, blamed);
      ids.insert(ids.end(), blamed.begin(), blamed.end());
    }
    ids.resize(std::min(ids.size(), missing));
    picked.insert(picked.end(), ids.begin(), ids.end());
  }
  return picked;
}

std::vector<std::string> PlacementPass::PickClose(const GangShape& shape, int count,
                                                  const std::set<std::string>& kept,
                                                  const std::set<std::string>& not_these) {
  if (state_.topology_index == nullptr || shape.nodes == 1 || count == 0) {
    return PickNodes(shape, count, not_these);
  }
  const auto path_of = [&](const std::string& id) {
    return TopologyPath(state_, state_.nodes.at(id).node);
  };
  std::vector<CloseNode> candidates;
  for (std::string& id : PickNodes(shape, INT_MAX, not_these)) {
    candidates.push_back({id, path_of(id)});
  }
  std::vector<std::vector<int>> paths;
  for (const std::string& id : kept) paths.push_back(path_of(id));
  return ChooseCloseNodes(candidates, static_cast<std::size_t>(count), paths);
}

bool PlacementPass::FillGang(const JobEntry& job, const GangShape& shape, bool over_reservations,
                             std::vector<std::optional<NodeSlots>>& gang) {
  // Nodes that must not be used: nodes already in the gang, and nodes to avoid.
  std::set<std::string> not_these = KeptNodes(gang);
  const int missing = static_cast<int>(gang.size() - not_these.size());
  not_these.merge(NodesToAvoid(job.job));
  std::vector<NodeSlots> found;
  if (over_reservations) {
    for (const auto& [id, node] : state_.nodes) {
      const bool is_full = static_cast<int>(found.size()) == missing;
      if (is_full || !IsOpen(node) || not_these.contains(id)) continue;
      if (auto slots = TakeFrom(node, job, shape, {}, true)) found.push_back(*std::move(slots));
    }
  } else {
    for (const std::string& id : PickClose(shape, missing, KeptNodes(gang), not_these)) {
      if (auto slots = TakeFrom(state_.nodes.at(id), job, shape, {}, false)) {
        found.push_back(*std::move(slots));
      }
    }
  }
  if (static_cast<int>(found.size()) < missing) return false;
  SortByPlace(state_, found);
  auto next = found.begin();
  for (auto& node : gang) {
    if (!node.has_value()) node = std::move(*next++);
  }
  return true;
}

std::vector<std::set<std::string>> PlacementPass::BarredSets(const JobEntry& job,
                                                             const GangShape& shape) const {
  const RootSightings* roots = limits_.roots;
  const bool may_differ = roots == nullptr || !NeedsSharedRoot(job.job.spec(), shape.nodes, *roots);
  if (may_differ) return {{}};
  return NodesOutsideOfRoots(*roots);
}

const std::vector<NodeGroup>& PlacementPass::GroupsFor(const JobEntry& entry,
                                                       const GangShape& shape) const {
  const v1::JobSpec& spec = entry.job.spec();
  const auto [found, is_new] = groups_.try_emplace({shape.kind, shape.device, PlacementKey(spec)});
  if (!is_new) return found->second;
  found->second = GroupsOf(state_, spec, shape.kind);
  if (!shape.device.empty()) {
    std::erase_if(found->second,
                  [&](const NodeGroup& group) { return group.device != shape.device; });
  }
  return found->second;
}

int PlacementPass::CountFittingIn(const NodeGroup& group, const GangShape& shape,
                                  const std::set<std::string>* reserved) const {
  const auto is_in = [&](const std::string& id) { return group.Contains(id); };
  const NodesByFreeSlots& buckets = BucketsOf(state_.free_nodes, shape.kind);
  std::ptrdiff_t count = 0;
  for (auto free = buckets.lower_bound(shape.slots_per_node); free != buckets.end(); ++free) {
    const std::set<std::string>& ids = free->second;
    if (!shape.host.IsZero() || reserved != nullptr) {
      count += std::ranges::count_if(ids, [&](const std::string& id) {
        const HostAmount& free = state_.nodes.at(id).free_host;
        return is_in(id) && !limits_.closed.contains(id) && free.Covers(shape.HostPerNode()) &&
               (reserved == nullptr || !reserved->contains(id));
      });
      continue;
    }
    // A small group is compared with the nodes, and not the nodes with the group.
    count += group.has_all ? std::ranges::ssize(ids)
                           : std::ranges::count_if(group.nodes, [&](const std::string& id) {
                               return ids.contains(id);
                             });
    count -= std::ranges::count_if(limits_.closed,
                                   [&](const auto& id) { return ids.contains(id) && is_in(id); });
  }
  return static_cast<int>(count);
}

void PlacementPass::SortByFit(const JobEntry& job, const GangShape& shape,
                              std::vector<Choice>& choices) const {
  const std::set<std::string>* reserved = ReservedForOthers(job);
  std::map<const NodeGroup*, int> fitting;
  for (const Choice& choice : choices) {
    const int count = CountFittingIn(*choice.group, shape, reserved);
    fitting[choice.group] = count < shape.nodes ? INT_MAX : count;
  }
  std::ranges::stable_sort(choices, {},
                           [&](const Choice& choice) { return fitting.at(choice.group); });
}

std::vector<PlacementPass::Choice> PlacementPass::ChoicesFor(const JobEntry& job,
                                                             const GangShape& shape) const {
  std::vector<Choice> choices;
  for (const std::set<std::string>& barred : BarredSets(job, shape)) {
    for (const NodeGroup& group : GroupsFor(job, shape)) choices.push_back({&group, barred});
  }
  if (choices.empty()) return choices;
  if (!choices.front().group->name.empty()) SortByFit(job, shape, choices);
  // Prefer the directory that the job's previous nodes see, because that directory contains the
  // job's checkpoints.
  const v1::Attempt* before = NewestAttempt(job);
  if (before == nullptr || choices.size() == 1) return choices;
  const std::vector<std::string> nodes = GangNodes(*before);
  std::ranges::stable_sort(choices, {}, [&](const Choice& choice) {
    return std::ranges::count_if(nodes, [&](const auto& id) { return !choice.Allows(id); });
  });
  return choices;
}

std::vector<std::set<std::string>> PlacementPass::UsableNodes(const JobEntry& job,
                                                              const GangShape& shape) const {
  std::set<std::string> to_avoid = NodesToAvoid(job.job);
  if (const auto* reserved = ReservedForOthers(job)) {
    to_avoid.insert(reserved->begin(), reserved->end());
  }
  std::vector<std::set<std::string>> sets;
  for (const Choice& choice : ChoicesFor(job, shape)) {
    std::set<std::string>& nodes = sets.emplace_back();
    const auto add = [&](const std::string& id) {
      const bool is_usable = choice.Allows(id) && !to_avoid.contains(id);
      if (is_usable && IsOpen(state_.nodes.at(id))) nodes.insert(nodes.end(), id);
    };
    if (choice.group->has_all) {
      for (const auto& [id, node] : state_.nodes) add(id);
    } else {
      std::ranges::for_each(choice.group->nodes, add);
    }
  }
  return sets;
}

std::optional<Gang> PlacementPass::WithEachChoice(
    const JobEntry& job, const GangShape& shape,
    const std::function<std::optional<Gang>()>& place) {
  std::optional<Gang> gang;
  reserved_for_others_ = ReservedForOthers(job);
  for (const Choice& choice : ChoicesFor(job, shape)) {
    choice_ = &choice;
    gang = place();
    choice_ = nullptr;
    if (gang.has_value()) break;
  }
  reserved_for_others_ = nullptr;
  return gang;
}

std::optional<Gang> PlacementPass::FindGang(const JobEntry& job, const GangShape& shape,
                                            bool over_reservations) {
  return WithEachChoice(job, shape, [&]() -> std::optional<Gang> {
    std::vector<std::optional<NodeSlots>> nodes;
    if (!KeepGang(job, shape, nodes) || !FillGang(job, shape, over_reservations, nodes)) {
      return std::nullopt;
    }
    Gang gang;
    for (auto& node : nodes) gang.push_back(*std::move(node));
    if (accept_ && !accept_(gang)) return std::nullopt;
    return gang;
  });
}

std::optional<Gang> PlacementPass::PlaceGang(const JobEntry& job, const GangShape& shape,
                                             bool over_reservations) {
  std::optional<Gang> gang = FindGang(job, shape, over_reservations);
  if (gang.has_value()) Take(*gang, shape);
  return gang;
}

bool PlacementPass::Fits(const JobEntry& job, const GangShape& shape, NodeLimits limits) {
  std::swap(limits_, limits);
  const bool fits = FindGang(job, shape, false).has_value();
  std::swap(limits_, limits);
  return fits;
}

Shortage PlacementPass::ShortageOf(const JobEntry& entry, const GangShape& shape) {
  NodeLimits relaxed{
      .changing = {}, .closed = limits_.closed, .roots = limits_.roots, .now = limits_.now};
  if (!limits_.changing.empty() && Fits(entry, shape, relaxed)) return Shortage::kChangingNode;
  const bool needs_one_root =
      limits_.roots != nullptr && NeedsSharedRoot(entry.job.spec(), shape.nodes, *limits_.roots);
  relaxed.roots = nullptr;
  if (needs_one_root && Fits(entry, shape, relaxed)) return Shortage::kSharedRoot;
  return Shortage::kSlots;
}

std::optional<Gang> PlacementPass::PlaceAgain(const JobEntry& entry, const GangShape& shape) {
  return WithEachChoice(entry, shape, [&]() -> std::optional<Gang> {
    std::vector<std::optional<NodeSlots>> nodes;
    if (!KeepGang(entry, shape, nodes)) return std::nullopt;
    Gang gang;
    for (auto& node : nodes) {
      if (!node.has_value()) return std::nullopt;
      gang.push_back(*std::move(node));
    }
    Take(gang, shape);
    return gang;
  });
}

std::optional<Gang> PlacementPass::Place(const JobEntry& entry, const GangShape& shape) {
  return PlaceGang(entry, shape, false);
}

std::optional<Gang> PlacementPass::PlaceOverReservations(const JobEntry& entry,
                                                         const GangShape& shape) {
  return PlaceGang(entry, shape, true);
}

int PlacementPass::CountUsable(const JobEntry& entry, const GangShape& shape, bool with_free) {
  int most = 0;
  reserved_for_others_ = ReservedForOthers(entry);
  for (const Choice& choice : ChoicesFor(entry, shape)) {
    choice_ = &choice;
    most = std::max(most, CountUsableHere(entry, shape, with_free));
    choice_ = nullptr;
  }
  reserved_for_others_ = nullptr;
  return most;
}

int PlacementPass::CountUsableHere(const JobEntry& entry, const GangShape& shape, bool with_free) {
  std::vector<std::optional<NodeSlots>> nodes;
  if (!KeepGang(entry, shape, nodes)) return 0;
  std::set<std::string> not_these = KeptNodes(nodes);
  const int count = static_cast<int>(not_these.size());
  if (!with_free) return count;
  not_these.merge(NodesToAvoid(entry.job));
  return count + static_cast<int>(PickNodes(shape, shape.nodes - count, not_these).size());
}

int PlacementPass::FreeNow(const NodeEntry& node, v1::DeviceKind kind) const {
  int free = 0;
  const std::set<int>& taken = taken_.at(node.node.id());
  for (int i = 0; i < node.node.inventory().slots_size(); ++i) {
    const bool matches = node.node.inventory().slots(i).kind() == kind;
    if (matches && node.node.slot_uses(i).job_id() == 0 && !taken.contains(i)) ++free;
  }
  return free;
}

void PlacementPass::Take(const Gang& gang, const GangShape& shape) {
  host_use_.Take(gang, shape);
  for (const NodeSlots& chosen : gang) {
    const NodeEntry& node = state_.nodes.at(chosen.node_id);
    std::set<int>& taken = taken_[chosen.node_id];
    // Only one attempt at a time may try an unhealthy node, so the node is closed for the rest of
    // the pass.
    if (node.node.has_health()) limits_.closed.insert(chosen.node_id);
    for (const v1::DeviceKind kind : kDeviceKinds)
      touched_[kind][FreeNow(node, kind)].erase(node.node.id());
    for (int i = 0; i < node.node.inventory().slots_size(); ++i) {
      const int index = node.node.inventory().slots(i).index();
      if (std::ranges::count(chosen.slots, index) > 0) taken.insert(i);
    }
    for (const v1::DeviceKind kind : kDeviceKinds) {
      touched_[kind][FreeNow(node, kind)].insert(node.node.id());
    }
  }
}

FittingNodes PlacementPass::CountFittingNodes(const JobEntry& entry, const GangShape& shape) const {
  FittingNodes most;
  const std::set<std::string>* reserved = ReservedForOthers(entry);
  for (const NodeGroup& group : GroupsFor(entry, shape)) {
    const int count = CountFittingIn(group, shape, reserved);
    if (count > most.count) most = {count, group.name};
  }
  return most;
}

}  // namespace trainyard::controller
