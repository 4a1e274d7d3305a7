#include "controller/core/reconcile.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "controller/core/attempt_watch.h"
#include "controller/core/decide/element_jobs.h"
#include "controller/core/decide/halving.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/node_removal.h"
#include "controller/core/decide/reservation_requests.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/event_log/event_node.h"
#include "controller/core/health/node_evidence.h"
#include "controller/core/health/node_health.h"
#include "controller/core/health/quarantine.h"
#include "controller/core/observations/late_reports.h"
#include "controller/core/schedule/drains.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/growth.h"
#include "controller/core/schedule/placement_events.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/verdict/dependency_failure.h"

namespace trainyard::controller {
namespace {

// Returns the nodes that no command can reach, because their worker is detached or has not received
// its Welcome. An unreachable node cannot receive a start order, and will soon attach or become
// suspect.
std::set<std::string> UnreachableNodes(const ClusterState& state,
                                       const Observations& observations) {
  std::set<std::string> ids;
  // Both maps are sorted by node id, so they can be iterated in parallel.
  auto observed = observations.nodes.begin();
  for (const auto& [id, entry] : state.nodes) {
    while (observed != observations.nodes.end() && observed->first < id) ++observed;
    const bool takes_commands = observed != observations.nodes.end() && observed->first == id &&
                                observed->second.takes_commands;
    if (!takes_commands && entry.node.state() != v1::NODE_STATE_LOST) ids.insert(id);
  }
  return ids;
}

// Returns the nodes on which no rank may be placed now: the nodes whose state `events` are about to
// change and, if a job may be placed, the unreachable nodes.
std::set<std::string> ChangingNodes(const ClusterState& state, const Observations& observations,
                                    const std::vector<v1::Event>& events) {
  std::set<std::string> ids;
  for (const v1::Event& event : events) {
    if (std::string node = ChangedNode(event); !node.empty()) ids.insert(std::move(node));
  }
  if (state.pending_jobs.empty() && state.draining_nodes.empty()) return ids;
  ids.merge(UnreachableNodes(state, observations));
  return ids;
}

// Returns the events of nodes: suspected, returned, lost or removed nodes, reported health, and
// quarantines.
std::vector<v1::Event> NodeEvents(const ClusterState& state, const Observations& observations,
                                  const CoreOptions& options, Timestamp now) {
  std::vector<v1::Event> events = NodeEventsDue(state, observations, options, now);
  std::ranges::move(NodesToForget(state, options, now), std::back_inserter(events));
  std::ranges::move(ReportedHealthDue(state, observations, now), std::back_inserter(events));
  return events;
}

// Asks the jobs that the schedule preempts to yield their slots. If anything else happens to one of
// the jobs, the next pass decides again.
void AddPreemptions(const ClusterState& state, Timestamp now, Plan& plan) {
  std::set<int64_t> changing;
  for (const v1::Event& event : plan.events) changing.insert(JobIdOf(event));
  for (const Preemption& preemption : plan.schedule.preemptions) {
    std::vector<v1::Event> events;
    for (const int64_t job_id : preemption.job_ids) {
      const JobEntry& entry = state.jobs.at(job_id);
      v1::Yield yield;
      yield.set_cause(v1::YIELD_CAUSE_PREEMPTED);
      yield.set_for_job_id(preemption.for_job_id);
      yield.set_reason(PreemptionText(state, preemption.for_job_id, now));
      // An elastic job shrinks, if the rest of its nodes suffices.
      KeepOtherNodes(entry, preemption.nodes, yield);
      auto event = YieldEvent(entry, yield, now);
      if (event.has_value() && !changing.contains(job_id)) events.push_back(*std::move(event));
    }
    if (events.size() != preemption.job_ids.size()) continue;
    std::ranges::move(events, std::back_inserter(plan.events));
  }
}

// Returns the expected ends of attempts. Attempts that end by these events free their slots after
// the pass.
ExpectedEnds EndsAfter(const std::vector<v1::Event>& events, ExpectedEnds ends, Timestamp now) {
  std::set<int64_t> ending;
  for (const v1::Event& event : events) {
    if (event.has_attempt_ended()) ending.insert(event.attempt_ended().job_id());
  }
  if (ending.empty()) return ends;
  return [ending = std::move(ending), ends = std::move(ends), now](int64_t job_id) {
    return ending.contains(job_id) ? now + 1 : ends(job_id);
  };
}

}  // namespace

Plan Reconcile(const ClusterState& state, const Observations& observations,
               const CoreOptions& options, Timestamp now) {
  Plan plan;
  plan.events = NodeEvents(state, observations, options, now);
  if (plan.events.empty()) {
    // Quarantine events replace the health of a node, and the events below might overwrite that
    // health. Therefore return only the quarantine events, if there are any.
    plan.events = QuarantineEventsDue(state, observations, options, now);
    if (!plan.events.empty()) return plan;
  }
  std::ranges::move(DependencyFailuresDue(state, observations, options, now),
                    std::back_inserter(plan.events));
  RendezvousPorts ports(state, options);
  std::ranges::move(AttemptEventsDue(state, observations, options, ports, now),
                    std::back_inserter(plan.events));
  plan.schedule.awaits_workers = !MayPlace(state, observations, options, now);
  if (plan.schedule.awaits_workers) return plan;
  if (plan.events.empty()) {
    // Another event may end the attempt of an element. Each decision depends on the ones before.
    plan.events = HalvingEventsDue(state, observations, now);
    if (!plan.events.empty()) return plan;
  }
  std::ranges::move(ArrayEventsDue(state, options, now), std::back_inserter(plan.events));
  std::ranges::move(ReservationEndsDue(state, now), std::back_inserter(plan.events));
  const NodeLimits limits{ChangingNodes(state, observations, plan.events), ClosedNodes(state, now),
                          &observations.roots, now};
  if (plan.events.empty()) plan.events = DrainEventsDue(state, observations, limits, now);
  const ExpectedEnds ends = EndsAfter(plan.events, ExpectedEndsOf(state, observations, now), now);
  plan.schedule =
      MakeSchedule(state, ports, limits, ends, now, {options.preemption, options.promised_heads});
  // Such a job keeps its slots in this pass, like a job in its backoff.
  const auto awaiting = std::erase_if(plan.schedule.placements, [&](const Placement& placement) {
    return AwaitsCheckpoints(state.jobs.at(placement.job_id), observations, options, now);
  });
  for (const Placement& placement : plan.schedule.placements) {
    std::ranges::move(PlacementEvents(state, observations.roots, placement, now),
                      std::back_inserter(plan.events));
  }
  // The events above may free slots, so a preemption is decided once they have been applied. The
  // head of a preemption precedes all jobs, and so might take the slots that an awaiting job keeps.
  if (plan.events.empty() && awaiting == 0) AddPreemptions(state, now, plan);
  if (plan.events.empty() && MayAnyGrow(state, options.growth_interval_ms, now)) {
    GrowthLimits growth{limits, options.growth_interval_ms};
    growth.nodes.changing.merge(UnreachableNodes(state, observations));
    plan.events = GrowthDue(state, observations, growth, now, plan.schedule);
  }
  return plan;
}

}  // namespace trainyard::controller
