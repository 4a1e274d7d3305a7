// Finds programs in PATH as a shell does.
#ifndef TRAINYARD_WORKER_PROCESS_PROGRAM_PATH_H_
#define TRAINYARD_WORKER_PROCESS_PROGRAM_PATH_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// Returns the path of the program. A name with a slash is its own path. NOT_FOUND, with a message
// for the user, if the program is not in the PATH of `environment`.
absl::StatusOr<std::string> FindProgram(const std::string& program,
                                        const std::map<std::string, std::string>& environment);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROGRAM_PATH_H_
