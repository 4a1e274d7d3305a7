// One call of a hook. A call is either an HTTP POST or a run of a program that receives the event
// on its standard input.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_

#include "absl/status/status.h"
#include "controller/hooks/call_canceller.h"
#include "controller/hooks/hook_command.h"
#include "controller/hooks/hook_rules.h"

namespace trainyard::controller {

// Calls the hook. Returns OK if the receiver accepted the notice (HTTP status 2xx or exit code 0),
// otherwise an error with the reason. Blocks for at most the rule's timeout plus 3 s.
absl::Status CallHook(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                      CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
