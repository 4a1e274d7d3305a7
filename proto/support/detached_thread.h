// Runs work on threads that are never joined, for example calls that a hung file server may block
// forever.
#ifndef TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
#define TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Runs `work` on a new thread that is never joined. A thread that still runs when the process exits
// is ended with it. Returns RESOURCE_EXHAUSTED without running `work` if the machine cannot start a
// thread, for example during a fork bomb. `what` completes the message "cannot start a thread to
// ...".
absl::Status RunDetached(const std::string& what, std::function<void()> work);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
