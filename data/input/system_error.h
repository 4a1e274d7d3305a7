// Converts errno values of file operations to statuses.
#ifndef TRAINYARD_DATA_INPUT_SYSTEM_ERROR_H_
#define TRAINYARD_DATA_INPUT_SYSTEM_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard::data {

// Returns "<path>: <reason>". The code is NotFound for a missing file, PermissionDenied for a file
// that may not be read, and DataLoss for every other error.
absl::Status SystemError(const std::string& path, int error);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_SYSTEM_ERROR_H_
