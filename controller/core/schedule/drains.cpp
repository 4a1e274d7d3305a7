#include "controller/core/schedule/drains.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/schedule/open_nodes.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/work_at_risk.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/state/nodes/node_reservations.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/wait.h"

namespace trainyard::controller {
namespace {

// A job counts as having just saved while a repetition of the steps since its newest checkpoint
// would take at most this time.
constexpr double kJustSavedSeconds = 10;

v1::Yield YieldOf(const ClusterState& state, const JobEntry& entry, const v1::Node& node) {
  v1::Yield yield;
  yield.set_cause(v1::YIELD_CAUSE_DRAIN);
  yield.set_reason(absl::StrCat("node ", node.name(), " is being drained: ", node.cordon_reason()));
  KeepOtherNodes(entry, {state.draining_nodes.begin(), state.draining_nodes.end()}, yield);
  return yield;
}

// Returns true if a checkpoint contains almost all steps of the job. Returns false if the job has
// reported no step or no step time, because the time of its unsaved work is unknown then.
bool HasJustSaved(const Observations& observations, const JobEntry& entry) {
  const auto found = observations.progress.find(entry.job.id());
  if (found == observations.progress.end()) return false;
  const v1::Progress& progress = found->second;
  const int64_t steps = WorkAtRiskOf(entry.job, *LiveAttempt(entry), progress.step()).steps;
  if (steps == 0) return true;
  const double seconds = static_cast<double>(steps) * progress.step_seconds();
  return 0 < seconds && seconds <= kJustSavedSeconds;
}

// Returns true if processes of the live attempt may run on the node. A node whose members a heal
// has replaced has no processes once it is cleared.
bool MayRunOn(const JobEntry& entry, const std::string& node_id) {
  return !entry.cleared_nodes.contains(node_id) ||
         !ReplacedNodes(*LiveAttempt(entry)).contains(node_id);
}

// Returns true if the worker reports an attempt whose processes may run. The attempt need not be
// live in the state: it may be unmanaged, or an older attempt that is being stopped.
bool ReportsProcesses(const Observations& observations, const std::string& node_id) {
  const auto found = observations.nodes.find(node_id);
  if (found == observations.nodes.end() || !found->second.attached) return false;
  return std::ranges::any_of(found->second.reports,
                             [](const auto& report) { return !report.second.cleared(); });
}

// Returns the reservations that have begun and from whose nodes running jobs must leave.
std::vector<const v1::NodeReservation*> DrainsBegun(const ClusterState& state, Timestamp now) {
  std::vector<const v1::NodeReservation*> begun;
  for (const auto& [name, reservation] : state.node_reservations) {
    const bool is_active = reservation.start_ms() <= now && now < reservation.end_ms();
    if (is_active && reservation.drain()) begun.push_back(&reservation);
  }
  return begun;
}

// Finds the due events of all draining nodes and of reservations.
class DrainPass {
 public:
  DrainPass(const ClusterState& state, const Observations& observations, const NodeLimits& limits,
            Timestamp now)
      : state_(state), observations_(observations), limits_(limits), now_(now) {}

  std::vector<v1::Event> EventsDue() {
    for (const std::string& node_id : state_.draining_nodes) Visit(state_.nodes.at(node_id));
    for (const v1::NodeReservation* reservation : DrainsBegun(state_, now_)) Clear(*reservation);
    return std::move(events_);
  }

 private:
  void Visit(const NodeEntry& node) {
    std::vector<int64_t> jobs;
    for (const int64_t job_id : node.live_jobs) {
      if (MayRunOn(state_.jobs.at(job_id), node.node.id())) jobs.push_back(job_id);
    }
    const bool may_run =
        !jobs.empty() || !node.uncleared.empty() || ReportsProcesses(observations_, node.node.id());
    if (!may_run) {
      events_.emplace_back(ControllerEvent(now_))
          .mutable_node_drained()
          ->set_node_id(node.node.id());
      return;
    }
    const v1::NodeDrain& drain = node.node.drain();
    const bool is_due = HasPassed(drain.since_ms(), drain.deadline_ms(), now_);
    for (const int64_t job_id : jobs) {
      const JobEntry& entry = state_.jobs.at(job_id);
      // A job may have ranks on several draining nodes.
      if (yielding_.contains(job_id) || !(is_due || MayMoveEarly(entry))) continue;
      auto event = YieldEvent(entry, YieldOf(state_, entry, node.node), now_);
      if (!event.has_value()) continue;
      yielding_.insert(job_id);
      events_.push_back(*std::move(event));
    }
  }

  // Asks the jobs that the reservation is not for to leave its nodes.
  void Clear(const v1::NodeReservation& reservation) {
    const std::set<std::string> names = ReservedNames(reservation);
    std::set<std::string> leaving;
    for (const auto& [id, node] : state_.nodes) {
      if (names.contains(node.node.name())) leaving.insert(leaving.end(), id);
    }
    for (const std::string& node_id : leaving) {
      for (const int64_t job_id : state_.nodes.at(node_id).live_jobs) {
        const JobEntry& entry = state_.jobs.at(job_id);
        if (yielding_.contains(job_id) || !MayRunOn(entry, node_id)) continue;
        if (BelongsTo(reservation, ClassOf(entry.job))) continue;
        v1::Yield yield;
        yield.set_cause(v1::YIELD_CAUSE_DRAIN);
        yield.set_reason(
            absl::StrCat("node ", NodeName(state_, node_id), " is reserved: ", reservation.name(),
                         reservation.reason().empty() ? "" : ", ", reservation.reason()));
        KeepOtherNodes(entry, leaving, yield);
        auto event = YieldEvent(entry, yield, now_);
        if (!event.has_value()) continue;
        yielding_.insert(job_id);
        events_.push_back(*std::move(event));
      }
    }
  }

  // Jobs move early one at a time, and only while no job waits for slots of their kind. Otherwise
  // another job could take the slots before the moving job has exited.
  bool MayMoveEarly(const JobEntry& entry) const {
    const v1::DeviceKind kind = GangRequestOf(entry.job.spec()).kind;
    if (!yielding_.empty() || AnyJobWaitsFor(kind) || AnyJobYields()) return false;
    return CanYield(entry) && HasJustSaved(observations_, entry) && FitsElsewhere(entry);
  }

  bool AnyJobWaitsFor(v1::DeviceKind kind) const {
    const auto found = state_.pending_classes.lower_bound({.kind = kind});
    return found != state_.pending_classes.end() && found->first.kind == kind;
  }

  bool AnyJobYields() const {
    return std::ranges::any_of(state_.draining_nodes, [&](const std::string& node_id) {
      return std::ranges::any_of(state_.nodes.at(node_id).live_jobs, [&](int64_t job_id) {
        return LiveAttempt(state_.jobs.at(job_id))->has_yield();
      });
    });
  }

  // Returns true if the job's whole gang fits on open nodes. An elastic job moves early if it need
  // not shrink.
  bool FitsElsewhere(const JobEntry& entry) const {
    const GangRequest request = GangRequestOf(entry.job.spec());
    const int nodes = request.elastic ? TrainingNodes(*LiveAttempt(entry)) : request.max_nodes;
    return CountOpenNodesFor(state_, limits_, entry, nodes) >= nodes;
  }

  const ClusterState& state_;
  const Observations& observations_;
  const NodeLimits& limits_;
  const Timestamp now_;
  // Jobs whose yield is in events_.
  std::set<int64_t> yielding_;
  std::vector<v1::Event> events_;
};

}  // namespace

std::vector<v1::Event> DrainEventsDue(const ClusterState& state, const Observations& observations,
                                      const NodeLimits& limits, Timestamp now) {
  if (state.draining_nodes.empty() && DrainsBegun(state, now).empty()) return {};
  return DrainPass(state, observations, limits, now).EventsDue();
}

}  // namespace trainyard::controller
