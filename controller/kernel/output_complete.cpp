#include "controller/kernel/output_complete.h"

#include <algorithm>
#include <string>

#include "controller/core/decide/references.h"
#include "controller/core/support/wait.h"

namespace trainyard::controller {
namespace {

// A log reader waits this long for the remaining output of an ended job from a disconnected node.
constexpr int64_t kDisconnectedNodeMs = 10'000;

bool IsNodeComplete(const std::string& node_id, const AttemptKey& attempt, const ClusterView& view,
                    const Sessions& sessions) {
  const auto node = view.state.nodes.find(node_id);
  if (node == view.state.nodes.end() || node->second.node.state() == v1::NODE_STATE_LOST) {
    return true;
  }
  const Session* session = sessions.FindNode(node_id);
  const auto observed = view.observations.nodes.find(node_id);
  if (session == nullptr || !session->welcomed || observed == view.observations.nodes.end()) {
    return false;
  }
  const auto report = observed->second.reports.find(attempt);
  // If there is no report, the worker has forgotten the attempt. A worker forgets an attempt only
  // after all its data is stored.
  return report == observed->second.reports.end() || AllStorableStored(*session, report->second);
}

}  // namespace

bool IsOutputComplete(const JobEntry& entry, const ClusterView& view, const Sessions& sessions) {
  const Timestamp quiet_since = std::max(entry.job.ended_time_ms(), view.observations.since_ms);
  const bool waited_enough =
      HasPassed(quiet_since, quiet_since + kDisconnectedNodeMs + 1, view.now);
  for (const v1::Attempt& attempt : entry.job.attempts()) {
    for (const std::string& node_id : GangNodes(attempt)) {
      const AttemptKey key{entry.job.id(), attempt.number()};
      // Output may never be complete if the node is disconnected, or if a process that survived
      // SIGKILL keeps the output open. In these cases the wait is limited.
      const bool never_ends = sessions.FindNode(node_id) == nullptr ||
                              !UnkillableOn(view.observations, node_id, key).empty();
      if (never_ends && waited_enough) continue;
      if (!IsNodeComplete(node_id, key, view, sessions)) return false;
    }
  }
  return true;
}

}  // namespace trainyard::controller
