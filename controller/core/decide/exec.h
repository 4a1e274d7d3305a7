// Commands that users run beside a rank.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_EXEC_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_EXEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/exec.pb.h"

namespace trainyard::controller {

// The process beside which a command runs.
struct ExecTarget {
  AttemptKey attempt;
  int place = 0;
  // The member that occupies the place.
  int member = 0;
  std::string node_id;
};

// Returns the target of a command beside the rank `place` of the job. INVALID_ARGUMENT: the job has
// no such rank. FAILED_PRECONDITION: the rank is not running.
absl::StatusOr<ExecTarget> FindExecTarget(const JobEntry& entry, int place);

// INVALID_ARGUMENT: the command is too long, or a field has an invalid value.
absl::Status CheckExecCommand(const v1::ExecCommand& command);

// Returns the event that records the session. FAILED_PRECONDITION: the target no longer runs.
absl::StatusOr<std::vector<v1::Event>> DecideExec(const ClusterState& state,
                                                  const OpenExecSession& request, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_EXEC_H_
