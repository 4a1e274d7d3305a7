#include "controller/hooks/hook_call.h"

#include <memory>

#include "controller/hooks/hook_command.h"
#include "controller/hooks/hook_post.h"
#include "proto/support/asio.h"

namespace trainyard::controller {

void CallCanceller::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (io_ != nullptr) io_->stop();
}

bool CallCanceller::Enter(boost::asio::io_context* io) {
  const std::lock_guard lock(mutex_);
  io_ = io;
  return !cancelled_;
}

void CallCanceller::Leave() {
  const std::lock_guard lock(mutex_);
  io_ = nullptr;
}

bool CallCanceller::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

absl::Status CallHook(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                      CallCanceller& canceller) {
  return rule.is_command() ? RunHookCommand(rule, notice, process, canceller)
                           : PostHook(rule, notice, canceller);
}

}  // namespace trainyard::controller
