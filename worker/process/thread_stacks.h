// Threads of a hanging rank and where each one waits, from /proc.
#ifndef TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_
#define TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace trainyard::worker {

inline constexpr std::size_t kMaxStackBytes = 8192;

// One line per thread of the processes in the process group of `pid`: id, name and state, and the
// kernel function and system call in which it waits. The frames of its kernel stack follow if this
// user may read them. At most kMaxStackBytes; empty if the process does not exist. Reads only files
// that never block, even for a hanging process.
std::string ThreadStacks(pid_t pid);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_
