// Runs work on threads that are never joined. Used for calls that may block forever, for example
// because a file server hangs.
#ifndef TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
#define TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Runs `work` on a new thread that is never joined. The exit of the process ends the thread.
// RESOURCE_EXHAUSTED: the machine cannot start a thread, for example during a fork bomb; `work`
// does not run. `what` completes the message "cannot start a thread to ...".
absl::Status RunDetached(const std::string& what, std::function<void()> work);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
