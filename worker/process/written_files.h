// Finds the files that processes have open for writing.
#ifndef TRAINYARD_WORKER_PROCESS_WRITTEN_FILES_H_
#define TRAINYARD_WORKER_PROCESS_WRITTEN_FILES_H_

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace trainyard::worker {

// Returns the paths of the files below the directory that at least one of the processes has open
// for writing. The paths are relative to the directory, which must be an absolute path without
// symbolic links. Does not find files that are only mapped, or files of processes that this user
// may not inspect. Reads only data that the kernel has in memory, so an unresponsive file server
// cannot block the call. May be called on any thread.
std::set<std::string> FilesWrittenBelow(const std::vector<pid_t>& processes,
                                        const std::string& directory);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_WRITTEN_FILES_H_
