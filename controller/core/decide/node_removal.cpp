#include "controller/core/decide/node_removal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// Returns a live or recovering job whose newest attempt has ranks on the node. Returns nullptr if
// there is none.
const v1::Job* JobThatNeeds(const ClusterState& state, const std::string& node_id) {
  const auto needs = [&](int64_t job_id) {
    const v1::Attempt* newest = NewestAttempt(state.jobs.at(job_id));
    return newest != nullptr &&
           std::ranges::any_of(newest->ranks(), [&](const v1::RankPlacement& rank) {
             return rank.node_id() == node_id;
           });
  };
  for (const int64_t job_id : state.live_jobs) {
    if (needs(job_id)) return &state.jobs.at(job_id).job;
  }
  for (const auto& [job_id, reservation] : state.reservations) {
    if (needs(job_id)) return &state.jobs.at(job_id).job;
  }
  return nullptr;
}

v1::Event Removal(const v1::Node& node, const Principal& principal, const std::string& reason,
                  Timestamp now) {
  v1::Event event = EventBy(principal, now);
  event.mutable_node_removed()->set_node_id(node.id());
  event.mutable_node_removed()->set_name(node.name());
  event.mutable_node_removed()->set_reason(reason);
  return event;
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideNodeRemoval(const ClusterState& state,
                                                         const v1::RemoveNodeRequest& request,
                                                         const Principal& principal,
                                                         Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string node_id, FindNode(state, request.node()));
  const v1::Node& node = state.nodes.at(node_id).node;
  if (node.state() != v1::NODE_STATE_LOST) {
    return absl::FailedPreconditionError(
        absl::StrCat("node ", node.name(), " is ", EnumText(node.state()),
                     "; only lost nodes can be removed. Stop the worker of the node first. To keep "
                     "new ranks off the node instead, run `trainyard node cordon ",
                     node.name(), "`"));
  }
  if (const v1::Job* job = JobThatNeeds(state, node_id)) {
    return absl::FailedPreconditionError(
        absl::StrCat("node ", node.name(), " has ranks of ", JobText(*job), ", which is ",
                     EnumText(job->state()), "; remove the node once the job runs elsewhere, or ",
                     "stop the job first: trainyard stop ", job->id()));
  }
  return std::vector<v1::Event>{Removal(node, principal, "", now)};
}

std::vector<v1::Event> NodesToForget(const ClusterState& state, const CoreOptions& options,
                                     Timestamp now) {
  std::vector<v1::Event> events;
  for (const std::string& node_id : state.lost_nodes) {
    const v1::Node& node = state.nodes.at(node_id).node;
    // A cordoned or quarantined node may be switched off for repair. The node stays in the state,
    // so that its cordon or quarantine still applies when it returns.
    if (node.cordoned() || node.health().has_quarantine()) continue;
    const int64_t away_ms = now - node.last_heartbeat_ms();
    if (away_ms < options.forget_lost_after_ms || JobThatNeeds(state, node_id) != nullptr) continue;
    events.push_back(Removal(node, ControllerPrincipal(),
                             absl::StrCat("no heartbeat for ", DurationText(away_ms)), now));
  }
  return events;
}

}  // namespace trainyard::controller
