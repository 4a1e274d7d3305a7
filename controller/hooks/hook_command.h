// Runs the program of a command hook.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_

#include <sys/types.h>

#include "absl/status/status.h"
#include "controller/hooks/call_canceller.h"
#include "controller/hooks/hook_rules.h"

namespace trainyard::controller {

// The state that a command hook keeps between two calls.
struct HookProcess {
  pid_t stuck_pid = 0;  // A process that survived SIGKILL and is not reaped yet; 0 if none.
};

// Implements CallHook for commands.
// Runs the program without a shell, in its own process group. Its environment is the controller's
// PATH, HOME and LANG, plus TRAINYARD_EVENT (the kind) and TRAINYARD_EVENT_ID. The body is its
// standard input. Its output is discarded.
// At the timeout the process group gets SIGTERM, and SIGKILL 2 s later. If a process survives both,
// calls return UNAVAILABLE as long as the process exists.
absl::Status RunHookCommand(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                            CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_COMMAND_H_
