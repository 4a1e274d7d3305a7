// The rule for the result of EventLog::Append.
#ifndef TRAINYARD_CONTROLLER_KERNEL_COMMIT_RULE_H_
#define TRAINYARD_CONTROLLER_KERNEL_COMMIT_RULE_H_

#include "absl/status/status.h"

namespace trainyard::controller {

enum class CommitOutcome {
  // The events are durable: answer their requests.
  kDurable,
  // The disk is full, and the log contains none of the events: undo the tick.
  kUndone,
  // Another controller leads: exit, and answer nobody.
  kLeadershipLost,
  // The log may or may not contain the events: exit, and replay the log at the next start.
  kUnknown,
};

inline CommitOutcome OutcomeOf(const absl::Status& append) {
  if (append.ok()) return CommitOutcome::kDurable;
  if (absl::IsResourceExhausted(append)) return CommitOutcome::kUndone;
  return absl::IsAborted(append) ? CommitOutcome::kLeadershipLost : CommitOutcome::kUnknown;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_COMMIT_RULE_H_
