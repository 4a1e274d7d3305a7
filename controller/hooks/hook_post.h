// Sends the HTTP POST of a webhook.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_POST_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_POST_H_

#include "absl/status/status.h"
#include "controller/hooks/call_canceller.h"
#include "controller/hooks/hook_rules.h"

namespace trainyard::controller {

// Implements CallHook for webhooks. With TLS, the server's certificate must be valid for the host.
// Redirects are errors, because a signed event must not be sent to another server.
absl::Status PostHook(const HookRule& rule, const HookNotice& notice, CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_POST_H_
