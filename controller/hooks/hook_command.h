// The program of a command hook.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_

#include "absl/status/status.h"
#include "controller/hooks/hook_call.h"

namespace trainyard::controller {

// As CallHook. Runs without a shell, in a process group of its own, with the controller's
// environment and TRAINYARD_EVENT (the kind) and TRAINYARD_EVENT_ID. The body is its standard
// input, its output goes nowhere. At the time-out the group is killed.
absl::Status RunHookCommand(const HookRule& rule, const HookNotice& notice,
                            CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
