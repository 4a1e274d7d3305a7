#include "proto/support/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

// The mode of token files, specs and spool files: only the owner can read and write them.
constexpr FileAccess kPrivate = {.mode = 0600};

}  // namespace

absl::Status ToStatus(const FileResult& result) {
  return result.has_value() ? absl::ErrnoToStatus(result->number, result->action)
                            : absl::OkStatus();
}

absl::Status ErrnoStatus(int error, absl::string_view what, absl::string_view subject) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", subject));
}

absl::Status SyncDirectoryOf(const std::string& path) {
  return ToStatus(SyncDirectory(DirectoryOf(path)));
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view text) {
  return ToStatus(WriteFileAtomically(path, text, kPrivate));
}

absl::Status ReserveAtomicFile(const std::string& path, std::size_t bytes) {
  return ToStatus(ReserveAtomicFile(path, bytes, kPrivate));
}

absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, int flags, mode_t mode) {
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  struct stat info = {};
  // Errors of open(2) for a file that is not regular: ENXIO for a socket or for a FIFO without a
  // reader, and ELOOP for a symbolic link if O_NOFOLLOW is set.
  const bool is_other = fd.valid() ? fstat(fd.get(), &info) == 0 && !S_ISREG(info.st_mode)
                                   : errno == ENXIO || errno == ELOOP;
  if (is_other) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not a regular file"));
  }
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path);
  return fd;
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, O_RDONLY));
  return ReadSmallFile(fd, path, max_bytes);
}

absl::StatusOr<std::string> ReadSmallFile(const UniqueFd& file, const std::string& path,
                                          std::size_t max_bytes) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(file.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "cannot read", path);
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, " has more than ", max_bytes, " bytes"));
    }
  }
}

}  // namespace trainyard
