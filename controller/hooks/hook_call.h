// One call of a hook: a POST, or a program that receives the event on its standard input.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_

#include "absl/status/status.h"
#include "controller/hooks/call_canceller.h"
#include "controller/hooks/hook_command.h"
#include "controller/hooks/hook_rules.h"

namespace trainyard::controller {

// Returns OK if the receiver accepted the notice (an HTTP status of 2xx, an exit code of 0),
// otherwise an error with the reason. Blocks for at most the rule's time-out plus 3 s.
absl::Status CallHook(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                      CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
