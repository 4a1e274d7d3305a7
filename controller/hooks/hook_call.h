// One call of a hook: a POST, or a program that receives the event on its standard input.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_

#include <sys/types.h>

#include <mutex>

#include "absl/status/status.h"
#include "controller/hooks/hook_rules.h"

namespace boost::asio {
class io_context;
}

namespace trainyard::controller {

// Ends the running call from another thread, and makes every later call end immediately.
class CallCanceller {
 public:
  void Cancel();

  // Used by calls. Returns false if cancelled. `io` must live until Leave.
  bool Enter(boost::asio::io_context* io);
  void Leave();
  bool cancelled() const;

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  boost::asio::io_context* io_ = nullptr;  // Guarded by mutex_.
};

// State of a command hook between calls.
struct HookProcess {
  pid_t stuck_pid = 0;  // Survived SIGKILL and is not reaped yet; 0 if none.
};

// Returns OK if the receiver accepted the notice (an HTTP status of 2xx, an exit code of 0),
// otherwise an error with the reason. Blocks for at most the rule's time-out plus 3 s.
absl::Status CallHook(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                      CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
