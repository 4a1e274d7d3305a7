#include "data/input/system_error.h"

#include <cerrno>
#include <cstring>

namespace trainyard::data {

absl::Status SystemError(const std::string& path, int error) {
  const std::string message = path + ": " + std::strerror(error);
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(message);
  return absl::DataLossError(message);
}

}  // namespace trainyard::data
