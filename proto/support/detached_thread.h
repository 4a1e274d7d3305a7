// Work on threads that nothing waits for, as for calls that a file server may hold up for ever.
#ifndef TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
#define TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Runs `work` on a thread of its own, which ends with the process at the latest.
// RESOURCE_EXHAUSTED, and `work` never runs, when the machine has no thread left, as while a
// program forks without end; `what` completes the message "cannot start a thread to ...".
absl::Status RunDetached(const std::string& what, std::function<void()> work);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DETACHED_THREAD_H_
