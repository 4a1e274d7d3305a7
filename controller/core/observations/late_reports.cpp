#include "controller/core/observations/late_reports.h"

#include <algorithm>
#include <string>

#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/wait.h"

namespace trainyard::controller {
namespace {

// Returns true if the attached worker may have telemetry of the attempt that is not stored.
bool HasAttempt(const NodeObservation& node, const AttemptKey& attempt) {
  return node.reports.contains(attempt) || node.starts_sent.contains(attempt);
}

// Returns true if the reports of the node paused during the attempt and began again shortly before
// its end, or later.
bool WasInterrupted(const NodeObservation& node, const v1::Attempt& attempt,
                    const CoreOptions& options) {
  return node.reports_since_ms > attempt.placed_time_ms() &&
         node.reports_since_ms + options.suspect_after_ms > attempt.ended_time_ms();
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

bool AwaitsCheckpoints(const JobEntry& entry, const Observations& observations,
                       const CoreOptions& options, Timestamp now) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr) return false;
  const Timestamp since = std::max(newest->ended_time_ms(), observations.since_ms);
  if (HasPassed(since, since + options.return_within_ms, now)) return false;
  const bool has_saved = WasAskedToSave(*newest);
  const AttemptKey key{entry.job.id(), newest->number()};
  return std::ranges::any_of(GangNodes(*newest), [&](const std::string& node_id) {
    const auto node = observations.nodes.find(node_id);
    const bool is_attached = node != observations.nodes.end() && node->second.attached;
    if (!is_attached) return has_saved;
    const bool may_be_late = has_saved || WasInterrupted(node->second, *newest, options);
    return may_be_late && HasAttempt(node->second, key);
  });
}

}  // namespace trainyard::controller
