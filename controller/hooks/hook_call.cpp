#include "controller/hooks/hook_call.h"

#include "controller/hooks/hook_post.h"

namespace trainyard::controller {

absl::Status CallHook(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                      CallCanceller& canceller) {
  return rule.is_command() ? RunHookCommand(rule, notice, process, canceller)
                           : PostHook(rule, notice, canceller);
}

}  // namespace trainyard::controller
