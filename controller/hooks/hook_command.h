// The program of a command hook.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_

#include <sys/types.h>

#include "absl/status/status.h"
#include "controller/hooks/call_canceller.h"
#include "controller/hooks/hook_rules.h"

namespace trainyard::controller {

// State of a command hook between calls.
struct HookProcess {
  pid_t stuck_pid = 0;  // Survived SIGKILL and is not reaped yet; 0 if none.
};

// Implements CallHook for commands. Runs the program without a shell, in its own process group. Its
// environment is the controller's PATH, HOME and LANG, plus TRAINYARD_EVENT (the kind) and
// TRAINYARD_EVENT_ID. The body is its standard input; its output is discarded. At the time-out the
// group gets SIGTERM, and SIGKILL 2 s later. Returns UNAVAILABLE while a process that survived both
// still exists.
absl::Status RunHookCommand(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                            CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
