// Secrets of this node: one file per secret in one directory, named like the environment variable.
#ifndef TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_
#define TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// The values by name, without the newline that editors append. Read at each launch, so that a
// renewed secret applies from the next attempt. Fails for a name that could leave the directory,
// and for a file that is missing, not a plain file, accessible to anyone except its owner, empty,
// above 64 KiB, not UTF-8, or contains NUL bytes. The message names the remedy and never contains a
// value.
absl::StatusOr<std::map<std::string, std::string>> ReadSecrets(
    const std::string& directory, const std::vector<std::string>& names);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_
