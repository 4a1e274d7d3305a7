// Computes the disk space of deleted files that processes still have open.
#ifndef TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
#define TRAINYARD_WORKER_PROCESS_HELD_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::worker {

// Returns the disk space, in bytes, of deleted regular files that at least one of the processes has
// open. Counts each file once, and only files whose last path was below the directory. The
// directory must be an absolute path without symbolic links. Does not count files that are only
// mapped, or files of processes that this user may not inspect. Reads only data that the kernel has
// in memory, so an unresponsive file server cannot block the call. May be called on any thread.
int64_t HeldBytes(const std::vector<pid_t>& processes, const std::string& directory);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
