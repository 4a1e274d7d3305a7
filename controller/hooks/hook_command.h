// The program of a command hook.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_

#include "absl/status/status.h"
#include "controller/hooks/hook_call.h"

namespace trainyard::controller {

// As CallHook. Runs without a shell, in a process group of its own. Its environment is PATH, HOME
// and LANG of the controller, TRAINYARD_EVENT (the kind) and TRAINYARD_EVENT_ID.
// The body is its standard input, its output goes nowhere. At the time-out the group gets SIGTERM,
// and SIGKILL 2 s later. Calls return UNAVAILABLE while a process that survived both still exists.
absl::Status RunHookCommand(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                            CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
