// The promise to the head of the queue, which no later job may delay.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_HEAD_PROMISE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_HEAD_PROMISE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_class.h"
#include "controller/core/state/nodes/node_groups.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// The assumed run time of a running job whose end is unknown, and the assumed time until a suspect
// or unhealthy node takes ranks again, and until uncleared slots are free. A cordoned node is not
// expected to take ranks.
inline constexpr int64_t kUnknownRunMs = int64_t{60} * 86'400'000;

// An unknown time, and the time of a promise that cannot be kept: the nodes are too few even when
// all jobs have ended.
inline constexpr Timestamp kNever = INT64_MAX;

// Returns the time at which a job of the class frees its slots at the latest if it starts now.
// kNever without a time limit.
Timestamp LatestEnd(const JobClass& job_class, Timestamp now);

// Returns the time at which the slots of a job with a live attempt are free, as far as known.
using ExpectedEnds = std::function<Timestamp(int64_t job_id)>;

// The time at which each slot of a node is free. The times of 8 slots need no memory of their own.
using ReleaseTimes = absl::InlinedVector<Timestamp, 8>;

// The release times of nodes, sorted by node id. A sorted list instead of a map, because each pass
// computes the times of all nodes anew. The ids are those of ClusterState::slot_rows, which must
// not change while the list is used.
class Releases {
 public:
  using Item = std::pair<std::string_view, ReleaseTimes>;

  Releases() = default;
  // The items must be sorted by id.
  Releases(std::initializer_list<Item> items) : items_(items) {}

  // Adds a node. Its id must be greater than all ids in the list.
  void Add(std::string_view id, ReleaseTimes times) { items_.emplace_back(id, std::move(times)); }
  void Reserve(std::size_t nodes) { items_.reserve(nodes); }
  // Returns the times of the node, or nullptr.
  ReleaseTimes* Find(std::string_view id);
  const ReleaseTimes* Find(std::string_view id) const;
  // Returns the position of the node; nullopt if it is not in the list.
  std::optional<std::size_t> PositionOf(std::string_view id) const;

  ReleaseTimes& at(std::size_t position) { return items_[position].second; }
  const ReleaseTimes& at(std::size_t position) const { return items_[position].second; }
  std::size_t size() const { return items_.size(); }
  std::vector<Item>::const_iterator begin() const { return items_.begin(); }
  std::vector<Item>::const_iterator end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
};

// Returns the times of the slots of this kind on each node that is not lost. Slots that `pass` has
// assigned are not considered.
Releases ReleasesOf(const ClusterState& state, const PlacementPass& pass, v1::DeviceKind kind,
                    const ExpectedEnds& expected_ends, Timestamp now);

// Computes the earliest time at which the head's gang fits, node by node, if all running jobs end
// when they are expected to and no other job starts. EASY backfill (Lifka 1995, doi
// 10.1007/3-540-60153-8_35), with nodes instead of a single pool of processors.
class HeadPromise {
 public:
  // `keeps_nodes`: if the promise cannot be kept, no other job may take a node that the head can
  // use. Without it, such a head delays no job.
  // `groups`: the nodes of the head's gang are in one of these disjoint groups.
  HeadPromise(const GangShape& shape, bool keeps_nodes, Releases releases,
              const std::vector<NodeGroup>& groups = {{.has_all = true}});

  Timestamp promised() const { return promised_; }
  // Returns a node that has enough free slots from the promised time on and not earlier, or "" if
  // there is none.
  std::string LastNode() const;
  // The release times, with the slots of the gangs that were taken.
  const Releases& releases() const { return releases_; }

  // Returns true if the gang, which then holds its slots until `end`, does not delay the head: it
  // ends in time, or the head still fits beside it at the promised time.
  bool Allows(const Gang& gang, Timestamp end) const;
  // Returns nodes that a gang with this many slots on each node must not take if it holds them
  // beyond the promised time: those that the head then needs, except as many nodes of `group` as
  // the head can spare. A gang on other nodes is allowed. If any gang on nodes of the group is
  // allowed, one on other nodes is.
  std::set<std::string> NodesNotToTake(int slots, const NodeGroup& group, Timestamp now) const;
  // Takes the gang's slots until `end`.
  void Take(const Gang& gang, Timestamp end);

 private:
  // Returns the time at which the node has enough free slots; kNever if it has too few slots.
  Timestamp TimeOf(const ReleaseTimes& slots) const;
  // Returns the times of all nodes of the group in fits_.
  std::vector<Timestamp> TimesIn(std::size_t group) const;
  bool TakesNodeOfHead(const Gang& gang) const;
  // Returns the position in fitting_ of the node, which must be in releases_.
  std::size_t GroupOf(std::string_view node_id) const;

  const GangShape shape_;
  const bool keeps_nodes_;
  Releases releases_;
  // For each node of releases_, in this order: the time at which it has enough free slots (TimeOf).
  std::vector<Timestamp> fits_;
  Timestamp promised_ = kNever;
  // The position of each node's group. Empty if there is one group.
  std::map<std::string, std::size_t, std::less<>> group_of_;
  // For each group: the nodes that have enough free slots at `promised_`.
  std::vector<int> fitting_;
};

// Returns the running job whose end is expected at the promised time; 0 if there is none.
int64_t AwaitedJob(const ClusterState& state, const HeadPromise& promise,
                   const ExpectedEnds& expected_ends);

// Replaces the `count` smallest times, which are those of slots that are free now, by `end`.
void OccupySlots(int count, Timestamp end, ReleaseTimes& slots);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_HEAD_PROMISE_H_
