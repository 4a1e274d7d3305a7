#include "worker/process/secret_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kMaxSecretBytes = 64 << 10;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

bool IsVariableName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(name.front())) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

absl::Status CheckSecretFile(const std::string& path, const std::string& name) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return ErrnoStatus(errno, "cannot read", path);
    return absl::NotFoundError(absl::StrCat("this node has no secret ", name,
                                            "; write the value of the secret into ", path,
                                            " (mode 0600, owned by the worker's user)"));
  }
  if (!S_ISREG(found.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not a regular file"));
  }
  if ((found.st_mode & kOthers) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s can be read by other users (mode %04o); run chmod 600 on this file, "
                        "and replace the secret",
                        path, found.st_mode & 07777));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSecret(const std::string& directory, const std::string& name) {
  if (!IsVariableName(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`", name, "` is not a valid name for a secret; use only letters, digits and _"));
  }
  const std::string path = absl::StrCat(directory, "/", name);
  TRAINYARD_RETURN_IF_ERROR(CheckSecretFile(path, name));
  TRAINYARD_ASSIGN_OR_RETURN(std::string value, ReadSmallFile(path, kMaxSecretBytes));
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
  if (value.empty()) return absl::FailedPreconditionError(absl::StrCat(path, " is empty"));
  if (!IsUtf8(value) || value.find('\0') != std::string::npos) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not UTF-8 text"));
  }
  return value;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ReadSecrets(
    const std::string& directory, const std::vector<std::string>& names) {
  std::map<std::string, std::string> secrets;
  for (const std::string& name : names) {
    TRAINYARD_ASSIGN_OR_RETURN(secrets[name], ReadSecret(directory, name));
  }
  return secrets;
}

}  // namespace trainyard::worker
