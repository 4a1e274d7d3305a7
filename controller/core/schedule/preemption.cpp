#include "controller/core/schedule/preemption.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/health/start_evidence.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/support/durations.h"
#include "controller/core/support/text.h"
#include "proto/support/job_kind.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Slots, CPU cores and memory of one node.
struct NodeAmount {
  int64_t slots = 0;
  HostAmount host;

  NodeAmount& operator+=(const NodeAmount& other) {
    slots += other.slots;
    host = host + other.host;
    return *this;
  }
  // Returns true if this amount is enough for `missing`, of which parts may be negative.
  bool Covers(const NodeAmount& missing) const {
    return slots >= missing.slots && host.cpus >= missing.host.cpus &&
           host.memory_bytes >= missing.host.memory_bytes;
  }
};

// A running job on a node of the cluster.
struct Candidate {
  int64_t job_id = 0;
  NodeAmount amount;  // On this node.
};

int64_t CostOf(const JobEntry& entry, Timestamp now) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  Timestamp saved = attempt.started_time_ms();
  if (!entry.job.checkpoints().empty()) {
    saved = std::max(saved, entry.job.checkpoints().rbegin()->time_ms());
  }
  return (now - saved + RestartCostMs(entry.job)) * attempt.ranks_size();
}

int PreemptionsOf(const v1::Job& job, Timestamp since) {
  return static_cast<int>(std::ranges::count_if(job.attempts(), [&](const v1::Attempt& attempt) {
    return attempt.yield().cause() == v1::YIELD_CAUSE_PREEMPTED &&
           attempt.stopping_time_ms() > since;
  }));
}

// Returns true if the job may be preempted for some head.
bool MayYield(const JobEntry& entry, const PreemptionLimits& limits, Timestamp now) {
  const v1::Attempt* live = LiveAttempt(entry);
  return entry.job.state() == v1::JOB_STATE_RUNNING && live->state() == v1::ATTEMPT_STATE_RUNNING &&
         now - live->started_time_ms() >= limits.run_ms && CanYield(entry) &&
         PreemptionsOf(entry.job, now - limits.window_ms) < limits.per_window;
}

// Returns true if the job may be preempted for a head of this shape and level. `total`: the slots
// of the job's node.
bool IsBelow(const ClusterState& state, const JobEntry& entry, const GangShape& shape,
             const std::pair<int, int>& level, int total) {
  const std::pair<int, int> own = LevelOf(state, entry.job);
  if (own != level) return own < level;
  const int slots = LiveAttempt(entry)->ranks_size();
  return shape.slots_per_node == total && 2 * slots <= total &&
         ProgramRulesOf(entry.job.spec()).stops_without_loss;
}

class VictimSearch {
 public:
  VictimSearch(const ClusterState& state, const JobEntry& head, const PreemptionLimits& limits,
               Timestamp now)
      : state_(state),
        limits_(limits),
        head_id_(head.job.id()),
        shape_(LeastShape(head)),
        level_(LevelOf(state, head.job)),
        now_(now) {}

  Victims Search(const Releases& releases) {
    for (const auto& [id, slots] : releases) AddNode(std::string(id), slots);
    for (const auto& [id, node] : nodes_) Rank(id);
    while (static_cast<int>(chosen_.size()) < shape_.nodes) {
      if (!ChooseNode()) return {};
    }
    DropNeedless();
    return {.job_ids = {victims_.begin(), victims_.end()}, .nodes = chosen_};
  }

 private:
  struct NodeView {
    NodeAmount missing;  // The head lacks this amount. Parts of which it lacks nothing are 0.
    std::vector<Candidate> candidates;
  };

  void AddNode(const std::string& id, const ReleaseTimes& slots) {
    const auto total = static_cast<int>(slots.size());
    if (total < shape_.slots_per_node) return;
    const NodeEntry& node = state_.nodes.at(id);
    NodeView view{MissingOn(node, slots), {}};
    const bool fits = NodeAmount{}.Covers(view.missing);
    for (const SlotHolder& holder : node.holders) {
      if (fits) break;
      if (holder.kind != shape_.kind || !IsEligible(holder.attempt, total)) continue;
      view.candidates.push_back({holder.attempt.job_id, {holder.slots, holder.host}});
    }
    for (const Candidate& candidate : view.candidates) nodes_of_[candidate.job_id].push_back(id);
    if (fits) ++free_nodes_;
    nodes_.emplace(id, std::move(view));
  }

  // `times`: the release times of the slots, or of seats (host_releases.h).
  NodeAmount MissingOn(const NodeEntry& node, const ReleaseTimes& times) const {
    const auto lack = [](int64_t needed, int64_t free) {
      return needed == 0 ? 0 : std::max<int64_t>(0, needed - free);
    };
    NodeAmount free{
        std::ranges::count_if(times, [&](const Timestamp time) { return time <= now_; }), {}};
    if (!shape_.host.IsZero()) free = FreeOn(node);
    const HostAmount needed = shape_.HostPerNode();
    return {lack(shape_.slots_per_node, free.slots),
            {lack(needed.cpus, free.host.cpus), lack(needed.memory_bytes, free.host.memory_bytes)}};
  }

  // Returns the amount that is free for the head, with what it has reserved.
  NodeAmount FreeOn(const NodeEntry& node) const {
    NodeAmount free{0, node.free_host};
    for (const SlotHolder& holder : node.holders) {
      const int64_t job_id = holder.attempt.job_id;
      if (holder.is_uncleared || (job_id != 0 && job_id != head_id_)) continue;
      free += {holder.kind == shape_.kind ? holder.slots : 0, holder.host};
    }
    return free;
  }

  // `total`: the slots of the node.
  bool IsEligible(const AttemptKey& holder, int total) {
    if (holder.job_id == 0) return false;
    const auto [known, is_new] = eligible_.try_emplace({holder, total}, false);
    if (!is_new) return known->second;
    const JobEntry* entry = FindEntry(state_, holder.job_id);
    if (entry == nullptr || !MayYield(*entry, limits_, now_)) return false;
    // The slots of an earlier attempt do not become free when the live attempt ends.
    const bool is_live = LiveAttempt(*entry)->number() == holder.number;
    return known->second = is_live && IsBelow(state_, *entry, shape_, level_, total);
  }

  // Returns the cheapest jobs of the node that give the head its missing slots, without those that
  // are already chosen; nullopt if there are too few.
  std::optional<std::pair<int64_t, std::set<int64_t>>> CheapestOn(const NodeView& node) const {
    NodeAmount freed;
    std::vector<std::pair<int64_t, Candidate>> by_cost;
    for (const Candidate& candidate : node.candidates) {
      if (victims_.contains(candidate.job_id)) {
        freed += candidate.amount;
      } else {
        by_cost.emplace_back(CostOf(state_.jobs.at(candidate.job_id), now_), candidate);
      }
    }
    std::ranges::sort(by_cost, {}, [](const auto& item) {
      return std::make_pair(item.first, item.second.job_id);
    });
    std::pair<int64_t, std::set<int64_t>> cheapest{0, {}};
    for (const auto& [cost, candidate] : by_cost) {
      if (freed.Covers(node.missing)) break;
      freed += candidate.amount;
      cheapest.first += cost;
      cheapest.second.insert(candidate.job_id);
    }
    if (!freed.Covers(node.missing)) return std::nullopt;
    return cheapest;
  }

  // Computes the place of a node in ranked_, which changes when one of its jobs is chosen.
  void Rank(const std::string& id) {
    if (const auto known = costs_.find(id); known != costs_.end()) {
      ranked_.erase({known->second, id});
      costs_.erase(known);
    }
    const auto cheapest = CheapestOn(nodes_.at(id));
    if (!cheapest.has_value()) return;
    costs_[id] = cheapest->first;
    ranked_.insert({cheapest->first, id});
  }

  // Adds the node that costs least. Returns false if no node is left.
  bool ChooseNode() {
    if (ranked_.empty()) return false;
    const std::string id = ranked_.begin()->second;
    const std::set<int64_t> added = CheapestOn(nodes_.at(id))->second;
    ranked_.erase(ranked_.begin());
    costs_.erase(id);
    chosen_.insert(id);
    victims_.insert(added.begin(), added.end());
    for (const int64_t job_id : added) {
      for (const std::string& node : nodes_of_.at(job_id)) {
        if (!chosen_.contains(node)) Rank(node);
      }
    }
    return true;
  }

  // Returns true if the head fits without the slots of this job, on the chosen nodes or on others:
  // a victim may also free a node that was not chosen.
  bool SufficesWithout(int64_t job_id) const {
    std::set<std::string> freed_nodes;
    for (const int64_t victim : victims_) {
      if (victim == job_id) continue;
      freed_nodes.insert(nodes_of_.at(victim).begin(), nodes_of_.at(victim).end());
    }
    const auto fits = [&](const std::string& id) {
      const NodeView& node = nodes_.at(id);
      NodeAmount freed;
      for (const Candidate& candidate : node.candidates) {
        const bool ends = candidate.job_id != job_id && victims_.contains(candidate.job_id);
        if (ends) freed += candidate.amount;
      }
      return freed.Covers(node.missing);
    };
    return free_nodes_ + std::ranges::count_if(freed_nodes, fits) >= shape_.nodes;
  }

  // Removes jobs that are not needed, the most costly first.
  void DropNeedless() {
    std::vector<std::pair<int64_t, int64_t>> by_cost;
    for (const int64_t id : victims_) by_cost.emplace_back(-CostOf(state_.jobs.at(id), now_), id);
    std::ranges::sort(by_cost);
    for (const auto& [cost, id] : by_cost) {
      if (SufficesWithout(id)) victims_.erase(id);
    }
  }

  const ClusterState& state_;
  const PreemptionLimits limits_;
  const int64_t head_id_;
  const GangShape shape_;
  const std::pair<int, int> level_;
  const Timestamp now_;
  // By the holder of a slot and the number of slots of its node.
  std::map<std::pair<AttemptKey, int>, bool> eligible_;
  std::map<std::string, NodeView> nodes_;
  int free_nodes_ = 0;  // Nodes on which the head fits already; they have no candidates.
  // The nodes on which each job is a candidate.
  std::map<int64_t, std::vector<std::string>> nodes_of_;
  // The costs of the nodes that can still be chosen, and the same nodes by cost.
  std::map<std::string, int64_t> costs_;
  std::set<std::pair<int64_t, std::string>> ranked_;
  std::set<std::string> chosen_;
  std::set<int64_t> victims_;
};

// Returns the time between the request to stop and the end of the newest attempt that was paused or
// yielded; nullopt if there is none. Ranks are killed after stop_grace, so a longer time contains
// something else, such as a pause of the controller.
std::optional<int64_t> NewestStopMs(const v1::Job& job) {
  for (const v1::Attempt& attempt : job.attempts() | std::views::reverse) {
    if (attempt.state() != v1::ATTEMPT_STATE_ENDED || !IsInterrupted(attempt)) continue;
    const int64_t stop_ms = attempt.ended_time_ms() - attempt.stopping_time_ms();
    return std::min(stop_ms, ToMs(job.spec().stop_grace()));
  }
  return std::nullopt;
}

}  // namespace

int64_t RestartCostMs(const v1::Job& job) {
  const std::optional<int64_t> stop_ms = NewestStopMs(job), start_ms = LongestStartMs(job);
  return stop_ms.has_value() && start_ms.has_value() ? *stop_ms + *start_ms : kUnknownRestartMs;
}

Victims JobsToPreempt(const ClusterState& state, const JobEntry& head, const Releases& releases,
                      const PreemptionLimits& limits, Timestamp now) {
  return VictimSearch(state, head, limits, now).Search(releases);
}

bool AnyMayYieldTo(const ClusterState& state, const JobEntry& head, const PreemptionLimits& limits,
                   Timestamp now) {
  const GangShape shape = LeastShape(head);
  const std::pair<int, int> level = LevelOf(state, head.job);
  return std::ranges::any_of(state.live_jobs, [&](const int64_t id) {
    const JobEntry& entry = state.jobs.at(id);
    // The size of the node is checked by the search, so a node without other slots is assumed.
    return entry.job.spec().resources().device() == shape.kind && MayYield(entry, limits, now) &&
           IsBelow(state, entry, shape, level, shape.slots_per_node);
  });
}

int64_t CostOfPreemption(const ClusterState& state, const std::vector<int64_t>& job_ids,
                         Timestamp now) {
  int64_t cost = 0;
  for (const int64_t id : job_ids) cost += CostOf(state.jobs.at(id), now);
  return cost;
}

bool AnyYieldsFor(const ClusterState& state, int64_t job_id) {
  return std::ranges::any_of(state.stopping_jobs, [&](const int64_t id) {
    const v1::Yield& yield = LiveAttempt(state.jobs.at(id))->yield();
    return yield.cause() == v1::YIELD_CAUSE_PREEMPTED && yield.for_job_id() == job_id;
  });
}

std::string PreemptionText(const ClusterState& state, int64_t for_job_id, Timestamp now) {
  const JobEntry& entry = state.jobs.at(for_job_id);
  const v1::Job& job = entry.job;
  const GangShape shape = LeastShape(entry);
  return absl::StrCat(job.name(), " (#", job.id(), ") has waited ",
                      DurationText(now - QueuedSince(job)), " for ", GangText(shape));
}

}  // namespace trainyard::controller
