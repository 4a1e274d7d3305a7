#include "data/stages/file_status.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace trainyard::data {

absl::Status ToStatus(const FileResult& result) {
  if (!result.has_value()) return absl::OkStatus();
  const std::string message = result->action + ": " + std::strerror(result->number);
  if (result->number != ENOSPC && result->number != EDQUOT) return absl::InternalError(message);
  return absl::ResourceExhaustedError(
      message + "; free disk space, then repeat the command, which continues");
}

}  // namespace trainyard::data
