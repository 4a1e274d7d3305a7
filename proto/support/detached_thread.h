// Work on threads that nothing waits for, such as calls that a file server may block forever.
#ifndef TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
#define TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Runs `work` on a separate thread, which ends with the process at the latest. RESOURCE_EXHAUSTED,
// without running `work`, if the machine cannot start a thread, as during a fork bomb. `what`
// completes the message "cannot start a thread to ...".
absl::Status RunDetached(const std::string& what, std::function<void()> work);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
