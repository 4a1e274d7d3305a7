#include "controller/core/observations/late_reports.h"

#include <algorithm>
#include <string>

#include "controller/core/state/gang.h"
#include "controller/core/support/wait.h"

namespace trainyard::controller {
namespace {

// Returns true if the attached worker may have telemetry of the attempt that is not stored.
bool HasAttempt(const NodeObservation& node, const AttemptKey& attempt) {
  return node.reports.contains(attempt) || node.starts_sent.contains(attempt);
}

}  // namespace

bool MayReportCheckpoints(const JobEntry& entry, const Observations& observations,
                          const CoreOptions& options, Timestamp now) {
  // After a restart of the controller, workers get the same time to attach as before.
  const Timestamp since = std::max(entry.job.ended_time_ms(), observations.since_ms);
  if (HasPassed(since, since + options.lease_ms, now)) return false;
  const bool awaits_attach = !HasPassed(since, since + options.return_within_ms, now);
  for (const v1::Attempt& attempt : entry.job.attempts()) {
    const AttemptKey key{entry.job.id(), attempt.number()};
    for (const std::string& node_id : GangNodes(attempt)) {
      const auto node = observations.nodes.find(node_id);
      const bool is_attached = node != observations.nodes.end() && node->second.attached;
      if (is_attached ? HasAttempt(node->second, key) : awaits_attach) return true;
    }
  }
  return false;
}

}  // namespace trainyard::controller
