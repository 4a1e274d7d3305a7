// The threads of a rank that hangs, and where each of them waits, as /proc tells it.
#ifndef TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_
#define TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace trainyard::worker {

inline constexpr std::size_t kMaxStackBytes = 8192;

// One line for each thread of the processes in the process group of `pid`: its id, name and state,
// the kernel function and the system call in which it waits; then the frames of its kernel stack
// where this user may read it. At most kMaxStackBytes; empty when there is no such process. Reads
// only files that never block, also those of a process that does not answer.
std::string ThreadStacks(pid_t pid);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_THREAD_STACKS_H_
