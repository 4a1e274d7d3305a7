#include "proto/support/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"
#include "proto/support/unique_fd.h"

namespace trainyard {
namespace {

std::string TemporaryPath(const std::string& path) { return path + ".tmp"; }

absl::Status WriteAll(int fd, std::string_view text, const std::string& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "cannot write", path);
    done += static_cast<std::size_t>(count);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ErrnoStatus(int error, absl::string_view what, absl::string_view subject) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", subject));
}

absl::Status SyncDirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open directory", directory);
  if (fsync(fd.get()) != 0) return ErrnoStatus(errno, "cannot sync directory", directory);
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view text) {
  const std::string temporary = TemporaryPath(path);
  // Not O_TRUNC: a reservation's blocks are written in place.
  const UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot create", temporary);
  TRAINYARD_RETURN_IF_ERROR(WriteAll(fd.get(), text, temporary));
  if (ftruncate(fd.get(), static_cast<off_t>(text.size())) != 0) {
    return ErrnoStatus(errno, "cannot cut", temporary);
  }
  if (fsync(fd.get()) != 0) return ErrnoStatus(errno, "cannot sync", temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return ErrnoStatus(errno, "cannot rename into place", path);
  }
  return SyncDirectoryOf(path);
}

absl::Status ReserveAtomicFile(const std::string& path, std::size_t bytes) {
  const std::string temporary = TemporaryPath(path);
  const UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot create", temporary);
  // A plain call, not posix_fallocate: its fallback writes zeros, which reserves nothing on
  // copy-on-write file systems.
  if (fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS) {
    return ErrnoStatus(errno, "cannot reserve", temporary);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(fd.get(), buffer, sizeof(buffer));
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
