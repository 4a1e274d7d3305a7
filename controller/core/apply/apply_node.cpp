#include "controller/core/apply/apply_node.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/removed_nodes.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/nodes/capacity.h"
#include "controller/core/state/nodes/evidence_list.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/support/invariant.h"

namespace trainyard::controller {
namespace {

void ApplyKind(const v1::NodeJoined& joined, const v1::Event& event, ClusterState& state) {
  v1::Node node = joined.node();
  const auto known = state.nodes.find(node.id());
  node.set_joined_time_ms(known == state.nodes.end() ? event.time_ms()
                                                     : known->second.node.joined_time_ms());
  node.set_last_heartbeat_ms(event.time_ms());
  node.set_state(v1::NODE_STATE_READY);
  const bool is_new = known == state.nodes.end();
  const bool restarted = is_new || known->second.node.incarnation() != node.incarnation();
  ReplaceNode(node, state);
  if (is_new) RecallNode(node.id(), state);
  NodeEntry& entry = state.nodes.at(node.id());
  if (restarted) NoteRestart(entry.node);
  entry.place = joined.place();
  if (!joined.secret_hash().empty()) entry.binding.secret_hash = joined.secret_hash();
  if (!joined.node_key().empty()) entry.binding.key = joined.node_key();
}

void ApplyKind(const v1::NodeRemoved& removed, const v1::Event& event, ClusterState& state) {
  ForgetNode(removed.node_id(), event.time_ms(), state);
}

void SetNodeState(const std::string& node_id, v1::NodeState to, const std::string& reason,
                  ClusterState& state) {
  EditNode(
      node_id,
      [&](NodeEntry& entry) {
        entry.node.set_state(to);
        entry.node.set_state_reason(reason);
      },
      state);
}

void ApplyKind(const v1::NodeSuspected& suspected, const v1::Event& event, ClusterState& state) {
  SetNodeState(
      suspected.node_id(), v1::NODE_STATE_SUSPECT,
      absl::StrCat("no heartbeat for ", event.time_ms() - suspected.last_heartbeat_ms(), " ms"),
      state);
  state.nodes.at(suspected.node_id()).node.set_last_heartbeat_ms(suspected.last_heartbeat_ms());
}

void ApplyKind(const v1::NodeReturned& returned, const v1::Event& event, ClusterState& state) {
  SetNodeState(returned.node_id(), v1::NODE_STATE_READY, "", state);
  // A restarted worker sends NodeJoined before NodeReturned. This worker did not restart, so its
  // link was at fault, not the node.
  EditNode(
      returned.node_id(),
      [](NodeEntry& entry) { BlameLink(entry.node.last_heartbeat_ms(), entry.node); }, state);
  state.nodes.at(returned.node_id()).node.set_last_heartbeat_ms(event.time_ms());
}

void ApplyKind(const v1::NodeLost& lost, const v1::Event&, ClusterState& state) {
  SetNodeState(lost.node_id(), v1::NODE_STATE_LOST, lost.reason(), state);
}

void ApplyKind(const v1::FactsReceived& received, const v1::Event&, ClusterState& state) {
  const auto found = state.nodes.find(received.node_id());
  Require(found != state.nodes.end(), absl::StrCat("no node ", received.node_id()));
  found->second.fact_sequence = received.fact_sequence();
}

void SetCordon(const std::string& reason, const std::string& actor, v1::Node& node) {
  node.set_cordoned(true);
  node.set_cordon_reason(reason.empty() ? absl::StrCat("by ", actor)
                                        : absl::StrCat(reason, " (", actor, ")"));
}

void ApplyKind(const v1::NodeCordoned& cordoned, const v1::Event& event, ClusterState& state) {
  EditNode(
      cordoned.node_id(),
      [&](NodeEntry& entry) { SetCordon(cordoned.reason(), event.actor(), entry.node); }, state);
}

void ApplyKind(const v1::NodeDraining& draining, const v1::Event& event, ClusterState& state) {
  EditNode(
      draining.node_id(),
      [&](NodeEntry& entry) {
        SetCordon(draining.reason(), event.actor(), entry.node);
        v1::NodeDrain& drain = *entry.node.mutable_drain();
        if (drain.since_ms() == 0) drain.set_since_ms(event.time_ms());
        drain.set_deadline_ms(draining.deadline_ms());
      },
      state);
}

void ApplyKind(const v1::NodeDrained& drained, const v1::Event& event, ClusterState& state) {
  EditNode(
      drained.node_id(),
      [&](NodeEntry& entry) { entry.node.mutable_drain()->set_drained_ms(event.time_ms()); },
      state);
}

void ApplyKind(const v1::NodeUncordoned& uncordoned, const v1::Event&, ClusterState& state) {
  EditNode(
      uncordoned.node_id(),
      [&](NodeEntry& entry) {
        entry.node.clear_cordoned();
        entry.node.clear_cordon_reason();
        entry.node.clear_drain();
      },
      state);
}

void ApplyKind(const v1::NodeUnhealthy& unhealthy, const v1::Event&, ClusterState& state) {
  EditNode(
      unhealthy.node_id(),
      [&](NodeEntry& entry) { *entry.node.mutable_health() = unhealthy.health(); }, state);
}

void ApplyKind(const v1::NodeHealthy& healthy, const v1::Event&, ClusterState& state) {
  EditNode(
      healthy.node_id(), [](NodeEntry& entry) { entry.node.clear_health(); }, state);
}

// The state remembers a slow rank, so that each slow rank is reported only once.
void ApplyKind(const v1::NodeBlamed& blamed, const v1::Event&, ClusterState& state) {
  const v1::NodeEvidence& evidence = blamed.evidence();
  EditNode(
      blamed.node_id(), [&](NodeEntry& entry) { AddEvidence(evidence, entry.node); }, state);
  if (evidence.fault() != v1::NODE_FAULT_SLOW) return;
  JobEntry& entry = EntryOf(evidence.job_id(), state);
  const v1::Attempt* newest = NewestAttempt(entry);
  const bool is_newest = newest != nullptr && newest->number() == evidence.attempt();
  if (is_newest) entry.slow_ranks.insert(evidence.rank());
}

void ApplyKind(const v1::NodeReleased& released, const v1::Event& event, ClusterState& state) {
  EditNode(
      released.node_id(), [&](NodeEntry& entry) { EndQuarantine(event.time_ms(), entry.node); },
      state);
}

// Applies an event about a node.
void ChangeNode(const v1::Event& event, ClusterState& state) {
  using E = v1::Event;
  switch (event.kind_case()) {
    case E::kNodeJoined:
      return ApplyKind(event.node_joined(), event, state);
    case E::kNodeRemoved:
      return ApplyKind(event.node_removed(), event, state);
    case E::kNodeSuspected:
      return ApplyKind(event.node_suspected(), event, state);
    case E::kNodeReturned:
      return ApplyKind(event.node_returned(), event, state);
    case E::kNodeLost:
      return ApplyKind(event.node_lost(), event, state);
    case E::kFactsReceived:
      return ApplyKind(event.facts_received(), event, state);
    case E::kNodeCordoned:
      return ApplyKind(event.node_cordoned(), event, state);
    case E::kNodeUncordoned:
      return ApplyKind(event.node_uncordoned(), event, state);
    case E::kNodeDraining:
      return ApplyKind(event.node_draining(), event, state);
    case E::kNodeDrained:
      return ApplyKind(event.node_drained(), event, state);
    case E::kNodeUnhealthy:
      return ApplyKind(event.node_unhealthy(), event, state);
    case E::kNodeHealthy:
      return ApplyKind(event.node_healthy(), event, state);
    case E::kNodeBlamed:
      return ApplyKind(event.node_blamed(), event, state);
    case E::kNodeReleased:
      return ApplyKind(event.node_released(), event, state);
    default:
      DieOfBrokenInvariant("an event that is not about a node");
  }
}

}  // namespace

void ApplyToNode(const v1::Event& event, ClusterState& state) {
  const int64_t slots = state.present_slots;
  ChangeNode(event, state);
  // A state that an older release wrote has no capacity history yet.
  const bool is_due = state.present_slots != slots || state.capacity.since_ms() == 0;
  if (is_due) CountCapacity(slots, event.time_ms(), state.capacity);
}

}  // namespace trainyard::controller
