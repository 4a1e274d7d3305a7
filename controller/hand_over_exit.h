// The end of a leader's process that hands over to a standby.
#ifndef TRAINYARD_CONTROLLER_HAND_OVER_EXIT_H_
#define TRAINYARD_CONTROLLER_HAND_OVER_EXIT_H_

#include "controller/controller.h"

namespace trainyard::controller {

// Ends the service of the controller and then the process, with kExitLeadershipLost, within a
// second. The standby takes over when the process has ended, so no part of this process can act as
// a leader afterwards. A time-out loses nothing: acknowledged changes are durable, callers repeat
// other requests, and workers keep other telemetry.
[[noreturn]] void ExitToHandOver(Controller& controller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HAND_OVER_EXIT_H_
