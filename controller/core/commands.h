// Commands for workers, derived from the state: a lost message is simply due again.
#ifndef TRAINYARD_CONTROLLER_CORE_COMMANDS_H_
#define TRAINYARD_CONTROLLER_CORE_COMMANDS_H_

#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

struct Command {
  std::string node_id;
  v1::ControllerMessage message;
};

// Commands for attached workers: start an attempt that the worker does not report, stop one that
// has to end or that is not live in the state, forget one whose facts and streams are all stored
// (ForgetAttempt is left to the shell, which knows the streams). The shell sends a command again
// only when it has not been answered for a second.
std::vector<Command> CommandsDue(const ClusterState& state, const Observations& observations,
                                 Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_COMMANDS_H_
