// Reads the secrets of this node. One directory contains one file per secret. A file has the name
// of the environment variable.
#ifndef TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_
#define TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// Returns the values by name, without the newline that editors append. Called for each launch, so
// that a renewed secret is used from the next attempt on. Fails for a name that would lead out of
// the directory. Fails if a file is missing, is not a plain file, is accessible to anyone except
// its owner, is empty, is larger than 64 KiB, is not UTF-8, or contains NUL bytes. The message
// names the remedy and never contains a value.
absl::StatusOr<std::map<std::string, std::string>> ReadSecrets(
    const std::string& directory, const std::vector<std::string>& names);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_
