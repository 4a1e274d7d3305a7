// Secrets of this node: a file each in one directory, named as the environment variable.
#ifndef TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_
#define TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::worker {

// The values by name, without the newline that editors leave at the end. Read for each launch, so
// that a renewed secret holds from the next attempt on. Fails for a name that could leave the
// directory, and for a file that is missing, not a plain file, readable by others than its owner,
// empty, above 64 KiB or not UTF-8 without NUL bytes; the message says what to do and never holds
// a value.
absl::StatusOr<std::map<std::string, std::string>> ReadSecrets(
    const std::string& directory, const std::vector<std::string>& names);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SECRET_FILES_H_
