// The descendants of a process that adopts orphans (PR_SET_CHILD_SUBREAPER): a shim, or the program
// that runs an exec session.
#ifndef TRAINYARD_WORKER_PROCESS_DESCENDANTS_H_
#define TRAINYARD_WORKER_PROCESS_DESCENDANTS_H_

#include <sys/types.h>

#include <chrono>

namespace trainyard::worker {

// Reaps orphans until the child has ended. Does not reap the child itself, so that its pid and its
// group id cannot be reused before the group is killed.
void AwaitChild(pid_t child);

// Kills and reaps the descendants of this process. Stops at the limit, because a process that hangs
// in the kernel (a GPU driver, a dead file server) cannot be killed. Returns true if no process
// remains. SIGCHLD should be blocked; otherwise each wait takes 50 ms.
bool KillDescendants(std::chrono::milliseconds limit);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_DESCENDANTS_H_
