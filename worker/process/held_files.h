// Disk space of deleted files that processes still have open.
#ifndef TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
#define TRAINYARD_WORKER_PROCESS_HELD_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::worker {

// Disk space, in bytes, of deleted regular files that at least one of the processes has open. Only
// files whose last path was below the directory count, each once. The directory is an absolute path
// without symbolic links. Files that are only mapped do not count, nor do files of processes that
// this user may not inspect. Reads only what the kernel has in memory, so a file server that does
// not respond cannot block the call. Callable from any thread.
int64_t HeldBytes(const std::vector<pid_t>& processes, const std::string& directory);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
