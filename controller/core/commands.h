// Commands for workers, derived from the state: a lost message is due again in the next call.
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
// must end or is not live in the state, and send heal orders. The shell repeats a command only if
// it has been unanswered for a second. It also sends ForgetAttempt, which is not included here,
// because only the shell knows which streams are stored.
std::vector<Command> CommandsDue(const ClusterState& state, const Observations& observations,
                                 Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_COMMANDS_H_
