// Disk space of files that have no name any more and live because a process has them open.
#ifndef TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
#define TRAINYARD_WORKER_PROCESS_HELD_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::worker {

// Bytes on disk of the regular files without a name that any of the processes has open, and that
// were made below the directory (an absolute path without links), each file once. Processes that
// this user may not look at, and files that are only mapped, do not count. Asks no file server: the
// kernel answers from what it knows. Any thread.
int64_t HeldBytes(const std::vector<pid_t>& processes, const std::string& directory);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_HELD_FILES_H_
