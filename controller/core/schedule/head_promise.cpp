#include "controller/core/schedule/head_promise.h"

#include <algorithm>
#include <utility>

#include "controller/core/schedule/job_times.h"

namespace trainyard::controller {
namespace {

// Returns the time from which the node takes ranks. Nobody knows when a user ends a cordon.
Timestamp OpensAt(const SlotRow& node, bool is_open, Timestamp now) {
  if (is_open) return now;
  return node.is_cordoned ? kNever : now + kUnknownRunMs;
}

// Asks for the expected end of each job once.
class JobEnds {
 public:
  JobEnds(const ExpectedEnds& expected_ends, Timestamp now, std::size_t jobs)
      : expected_ends_(expected_ends), now_(now), known_(jobs) {}

  // Returns now for free slots, which belong to job 0.
  Timestamp Of(int64_t job_id) {
    if (job_id == 0) return now_;
    if (const std::optional<Timestamp> known = known_.Find(job_id)) return *known;
    const Timestamp end = std::max(now_, expected_ends_(job_id));
    known_.Set(job_id, end);
    return end;
  }

 private:
  const ExpectedEnds& expected_ends_;
  const Timestamp now_;
  JobTimes known_;
};

// Nodes in ascending order of their ids. The caller must ask for them in this order.
class AscendingNodes {
 public:
  explicit AscendingNodes(const std::set<std::string>& ids) : next_(ids.begin()), end_(ids.end()) {}

  bool Contains(const std::string& id) {
    while (next_ != end_ && *next_ < id) ++next_;
    return next_ != end_ && *next_ == id;
  }

 private:
  std::set<std::string>::const_iterator next_;
  const std::set<std::string>::const_iterator end_;
};

// Returns the element that is in this place, counted from 1, if the times are sorted.
Timestamp SmallestAt(int place, const std::vector<Timestamp>& times) {
  // For a small gang, most times are only compared with the greatest one of the smallest.
  std::vector<Timestamp> smallest(static_cast<std::size_t>(place));
  std::ranges::partial_sort_copy(times, smallest);
  return smallest.back();
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

std::optional<std::size_t> Releases::PositionOf(std::string_view id) const {
  const auto found = std::ranges::lower_bound(items_, id, {}, &Item::first);
  if (found == items_.end() || found->first != id) return std::nullopt;
  return static_cast<std::size_t>(found - items_.begin());
}

ReleaseTimes* Releases::Find(std::string_view id) {
  const std::optional<std::size_t> position = PositionOf(id);
  return position.has_value() ? &at(*position) : nullptr;
}

const ReleaseTimes* Releases::Find(std::string_view id) const {
  const std::optional<std::size_t> position = PositionOf(id);
  return position.has_value() ? &at(*position) : nullptr;
}

Releases ReleasesOf(const ClusterState& state, const PlacementPass& pass, v1::DeviceKind kind,
                    const ExpectedEnds& expected_ends, Timestamp now) {
  Releases releases;
  releases.Reserve(state.slot_rows.size());
  JobEnds ends(expected_ends, now, state.live_jobs.size() + state.reservations.size());
  AscendingNodes changing(pass.limits().changing), closed(pass.limits().closed);
  for (const SlotRow& node : state.slot_rows) {
    if (node.is_lost) continue;
    const bool is_open =
        node.takes_ranks && !changing.Contains(node.node_id) && !closed.Contains(node.node_id);
    const Timestamp opens = OpensAt(node, is_open, now);
    ReleaseTimes times;
    for (const SlotRow::Part& part : node.parts) {
      if (part.is_gpu != (kind == v1::DEVICE_KIND_GPU)) continue;
      const Timestamp end = part.is_uncleared ? now + kUnknownRunMs : ends.Of(part.job_id);
      times.resize(times.size() + static_cast<std::size_t>(part.slots), std::max(opens, end));
    }
    releases.Add(node.node_id, std::move(times));
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
  fits_.reserve(releases_.size());
  for (const auto& [id, slots] : releases_) fits_.push_back(TimeOf(slots));
  std::vector<std::vector<Timestamp>> times;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    times.push_back(TimesIn(i));
    if (static_cast<int>(times[i].size()) < shape_.nodes) continue;
    promised_ = std::min(promised_, SmallestAt(shape_.nodes, times[i]));
  }
  if (promised_ == kNever) return;
  for (std::size_t i = 0; i < times.size(); ++i) {
    fitting_[i] = static_cast<int>(
        std::ranges::count_if(times[i], [&](const Timestamp time) { return time <= promised_; }));
  }
}

std::vector<Timestamp> HeadPromise::TimesIn(std::size_t group) const {
  if (group_of_.empty()) return fits_;
  std::vector<Timestamp> times;
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    if (GroupOf((releases_.begin() + static_cast<std::ptrdiff_t>(i))->first) == group) {
      times.push_back(fits_[i]);
    }
  }
  return times;
}

std::size_t HeadPromise::GroupOf(std::string_view node_id) const {
  return group_of_.empty() ? 0 : group_of_.find(node_id)->second;
}

std::string HeadPromise::LastNode() const {
  if (promised_ == kNever) return "";
  const auto last = std::ranges::find(fits_, promised_);
  return last == fits_.end() ? ""
                             : std::string((releases_.begin() + (last - fits_.begin()))->first);
}

Timestamp HeadPromise::TimeOf(const ReleaseTimes& slots) const {
  if (static_cast<int>(slots.size()) < shape_.slots_per_node) return kNever;
  // Most gangs request whole nodes.
  if (static_cast<int>(slots.size()) == shape_.slots_per_node) return std::ranges::max(slots);
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
    const std::optional<std::size_t> found = releases_.PositionOf(node.node_id);
    if (!found.has_value() || fits_[*found] > promised_) continue;
    ReleaseTimes slots = releases_.at(*found);
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
  auto fits = fits_.begin();
  for (const auto& [id, times] : releases_) {
    const Timestamp fits_at = *fits++;
    if (promised_ != kNever && GroupOf(id) != head_group) continue;
    if (fits_at > promised_ || (promised_ == kNever && fits_at == kNever)) continue;
    // A gang finds no slots on such a node anyway, so the node is not one to spare.
    if (std::ranges::count_if(times, [&](Timestamp time) { return time <= now; }) < slots) continue;
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
    const std::optional<std::size_t> found = releases_.PositionOf(node.node_id);
    return found.has_value() && fits_[*found] != kNever;
  });
}

void HeadPromise::Take(const Gang& gang, Timestamp end) {
  for (const NodeSlots& node : gang) {
    const std::optional<std::size_t> found = releases_.PositionOf(node.node_id);
    if (!found.has_value()) continue;
    const bool fitted = fits_[*found] <= promised_;
    OccupySlots(static_cast<int>(node.slots.size()), end, releases_.at(*found));
    fits_[*found] = TimeOf(releases_.at(*found));
    if (fitted && fits_[*found] > promised_) --fitting_[GroupOf(node.node_id)];
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
