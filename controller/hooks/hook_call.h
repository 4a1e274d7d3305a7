// One call of a hook: a POST, or a program that gets the event on its standard input.
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

// Ends the call that runs, from another thread, and every later one at once.
class CallCanceller {
 public:
  void Cancel();

  // For calls: false when cancelled. `io` lives until Leave.
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
  pid_t stuck_pid = 0;  // Survived SIGKILL and is not reaped yet; 0: none.
};

// OK: the receiver took the notice (an HTTP status of 2xx, an exit code of 0). Everything else is
// an error that says why. Blocks for at most the rule's time-out plus 3 s.
absl::Status CallHook(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                      CallCanceller& canceller);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_CALL_H_
