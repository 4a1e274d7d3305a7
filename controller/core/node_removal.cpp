#include "controller/core/node_removal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/slot_ledger.h"
#include "controller/core/text.h"
#include "proto/contract/limits.h"
#include "proto/json/message_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// A job that has not ended and whose newest attempt has ranks on the node; nullptr for none.
const v1::Job* JobThatNeeds(const ClusterState& state, const std::string& node_id) {
  const auto needs = [&](int64_t job_id) {
    const v1::Attempt* newest = NewestAttempt(state.jobs.at(job_id));
    return newest != nullptr &&
           std::ranges::any_of(newest->ranks(), [&](const v1::RankPlacement& rank) {
             return rank.node_id() == node_id;
           });
  };
  for (const auto* jobs : {&state.live_jobs, &state.recovering_jobs}) {
    const auto found = std::ranges::find_if(*jobs, needs);
    if (found != jobs->end()) return &state.jobs.at(*found).job;
  }
  return nullptr;
}

v1::Event Removal(const v1::Node& node, const std::string& actor, const std::string& reason,
                  Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor(actor);
  event.mutable_node_removed()->set_node_id(node.id());
  event.mutable_node_removed()->set_name(node.name());
  event.mutable_node_removed()->set_reason(reason);
  return event;
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideNodeRemoval(const ClusterState& state,
                                                         const v1::RemoveNodeRequest& request,
                                                         Timestamp now) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("user name", request.user(), kMaxUserBytes));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string node_id, FindNode(state, request.node()));
  const v1::Node& node = state.nodes.at(node_id).node;
  if (node.state() != v1::NODE_STATE_LOST) {
    return absl::FailedPreconditionError(absl::StrCat(
        "node ", node.name(), " is ", EnumText(node.state()),
        "; only lost nodes can be removed: stop its worker first, or `trainyard node cordon ",
        node.name(), "` keeps new ranks off it"));
  }
  if (const v1::Job* job = JobThatNeeds(state, node_id)) {
    return absl::FailedPreconditionError(
        absl::StrCat("node ", node.name(), " has ranks of ", JobText(*job), ", which is ",
                     EnumText(job->state()), "; remove the node once the job runs elsewhere, or ",
                     "stop the job first: trainyard stop ", job->id()));
  }
  v1::Event event = Removal(node, absl::StrCat("user ", request.user()), "", now);
  event.set_actor_verified(request.user_verified());
  return std::vector<v1::Event>{std::move(event)};
}

std::vector<v1::Event> NodesToForget(const ClusterState& state, const CoreOptions& options,
                                     Timestamp now) {
  std::vector<v1::Event> events;
  for (const std::string& node_id : state.lost_nodes) {
    const v1::Node& node = state.nodes.at(node_id).node;
    // Switched off to be repaired: it must not come back as a node that nobody knows.
    if (node.cordoned() || node.health().has_quarantine()) continue;
    const int64_t away_ms = now - node.last_heartbeat_ms();
    if (away_ms < options.forget_lost_after_ms || JobThatNeeds(state, node_id) != nullptr) continue;
    events.push_back(
        Removal(node, "controller", absl::StrCat("no heartbeat for ", DurationText(away_ms)), now));
  }
  return events;
}

void ForgetNode(const std::string& node_id, Timestamp now, ClusterState& state) {
  // Takes the node out of the indexes.
  EditNode(
      node_id, [](NodeEntry& entry) { entry.node.set_state(v1::NODE_STATE_UNSPECIFIED); }, state);
  const auto found = state.nodes.find(node_id);
  state.removed_nodes[node_id] = {found->second.fact_sequence, found->second.binding, now};
  state.nodes.erase(found);
  if (state.removed_nodes.size() <= kMaxRemovedNodes) return;
  const auto removed_ms = [](const auto& removed) { return removed.second.removed_ms; };
  state.removed_nodes.erase(std::ranges::min_element(state.removed_nodes, {}, removed_ms));
}

void RecallNode(const std::string& node_id, ClusterState& state) {
  const auto removed = state.removed_nodes.find(node_id);
  if (removed == state.removed_nodes.end()) return;
  NodeEntry& entry = state.nodes.at(node_id);
  entry.fact_sequence = removed->second.fact_sequence;
  entry.binding = removed->second.binding;
  state.removed_nodes.erase(removed);
}

}  // namespace trainyard::controller
