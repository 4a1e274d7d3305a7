#include "controller/store/files/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

absl::Status DirectoryProblem(int error, const std::string& path, const char* action) {
  return absl::Status(
      absl::ErrnoToStatusCode(error),
      absl::StrCat("cannot ", action, " data directory ", path, ": ", std::strerror(error),
                   "; check --data-dir and the owner and mode of that directory"));
}

// Creates the directory and syncs its parent, which makes the new entry durable.
absl::Status CreateDirectory(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return absl::OkStatus();
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::create_directories(parent, error);
  if (error) return DirectoryProblem(error.value(), parent.string(), "create");
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return DirectoryProblem(errno, path.string(), "create");
  }
  const FileResult synced = SyncDirectory(parent.string());
  return synced ? DirectoryProblem(synced->number, parent.string(), "sync") : absl::OkStatus();
}

std::string HolderOf(int lock_fd) {
  char text[32] = {};
  const ssize_t size = pread(lock_fd, text, sizeof(text) - 1, 0);
  int pid = 0;
  if (size <= 0 || !absl::SimpleAtoi(text, &pid)) return "pid unknown";
  return absl::StrCat("pid ", pid);
}

absl::Status TakeLock(int fd, const std::string& directory) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return DirectoryProblem(errno, directory, "lock");
    return absl::FailedPreconditionError(
        absl::StrCat("another controller (", HolderOf(fd), ") uses the data directory ", directory,
                     "; stop that controller first, or set another --data-dir"));
  }
  // The process id is only used in the error message above. If it cannot be written because the
  // disk is full, the lock still works.
  const std::string pid = absl::StrCat(getpid(), "\n");
  (void)!ftruncate(fd, 0);
  (void)!pwrite(fd, pid.data(), pid.size(), 0);
  return absl::OkStatus();
}

// Removes a trailing slash, because a path that ends with a slash has an empty last component.
std::string WithoutSlash(const std::string& path) {
  return path == "/" ? path : std::string(absl::StripSuffix(path, "/"));
}

}  // namespace

absl::Status MakeDataDirectory(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("--data-dir is empty; set it to a directory");
  return CreateDirectory(WithoutSlash(path));
}

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path) {
  TRAINYARD_RETURN_IF_ERROR(MakeDataDirectory(path));
  const std::string directory = WithoutSlash(path);
  const std::string lock_path = directory + "/LOCK";
  const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return DirectoryProblem(errno, directory, "open LOCK in");
  std::unique_ptr<DataDirectory> opened(new DataDirectory(directory, fd));
  TRAINYARD_RETURN_IF_ERROR(TakeLock(fd, directory));
  return opened;
}

DataDirectory::~DataDirectory() { close(lock_fd_); }

}  // namespace trainyard::controller
