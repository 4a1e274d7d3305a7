// Commands for workers, derived from the state. If a message is lost, the next call returns its
// command again.
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

// Returns the commands for attached workers: to start an attempt that the worker does not report,
// to stop an attempt that must end or is not live in the state, and to heal. The caller
// (kernel/command_sender.h) repeats a command only if the command has been unanswered for a second.
// ForgetAttempt is not included, because the core does not know which streams are stored.
std::vector<Command> CommandsDue(const ClusterState& state, const Observations& observations,
                                 Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_COMMANDS_H_
