// Lists the threads of a hanging rank and where each of them waits. The data comes from /proc.
#ifndef TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_
#define TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace trainyard::worker {

inline constexpr std::size_t kMaxStackBytes = 8192;

// Returns one line per thread of the processes in the process group of `pid`: id, name and state,
// and the kernel function and system call in which the thread waits. The frames of the kernel stack
// follow if this user may read them. Returns at most kMaxStackBytes; empty if the process does not
// exist. Reads only files that never block, even for a hanging process.
std::string ThreadStacks(pid_t pid);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_
