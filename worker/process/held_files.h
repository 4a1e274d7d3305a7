// Disk space of deleted files that processes still have open.
#ifndef TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
#define TRAINYARD_WORKER_PROCESS_HELD_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::worker {

// Bytes on disk of deleted regular files that any of the processes has open and that were created
// below the directory (an absolute path without links). Each file counts once. Processes this user
// may not inspect, and files that are only mapped, do not count. Answered by the kernel from
// memory, without asking a file server. Any thread.
int64_t HeldBytes(const std::vector<pid_t>& processes, const std::string& directory);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
