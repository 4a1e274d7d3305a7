// Accesses the daemon's files in directories that user programs can write. A user program may
// replace such a file with a link, a FIFO, or a mount of a hung file system.
#ifndef TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_
#define TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard {

// The unit of st_blocks and stx_blocks in bytes.
inline constexpr int64_t kStatBlockBytes = 512;

// A path that user programs may control in part. The functions below access the file only if it is
// on the file system of `root`. No component below `root` may be a link or a mount point.
// Therefore no call waits for another file system. `root` itself belongs to the operator and may
// be a link.
class GuardedPath {
 public:
  // Use this if user programs may have replaced the last component of the path, but not its
  // directory. The conversion is implicit because most callers pass such a path.
  GuardedPath(const std::string& path);  // NOLINT(google-explicit-constructor)
  GuardedPath(const char* path) : GuardedPath(std::string(path)) {}  // NOLINT
  // Use this for a path below the directory `root`, where user programs may have replaced
  // everything. Example of `below`: "3/1/rank0/telemetry.jsonl".
  GuardedPath(std::string root, std::string below)
      : root_(std::move(root)), below_(std::move(below)) {}

  const std::string& root() const { return root_; }
  const std::string& below() const { return below_; }
  std::string text() const { return root_ + "/" + below_; }

  friend bool operator==(const GuardedPath& a, const GuardedPath& b) {
    return a.text() == b.text();
  }

 private:
  std::string root_;
  std::string below_;
};

// Returns the result of lstat(2); nullopt if the path does not exist, or if a component below the
// root is a link or on another file system.
std::optional<struct stat> StatGuarded(const GuardedPath& path);

// Like StatGuarded, but returns nullopt if the path is not a regular file.
std::optional<struct stat> StatGuardedFile(const GuardedPath& path);

// Opens an existing regular file with the given `flags` of open(2). NOT_FOUND: it does not exist.
// FAILED_PRECONDITION: the path is not a regular file, or contains a link, a component that is not
// a directory, or another file system.
absl::StatusOr<UniqueFd> OpenGuarded(const GuardedPath& path, int flags);

// Opens a directory with O_PATH. The descriptor can be used only for calls such as fstat(2),
// openat(2) and renameat(2). Returns the same errors as OpenGuarded.
absl::StatusOr<UniqueFd> OpenGuardedDirectory(const GuardedPath& path);
// Opens the directory at `path` below the open directory `root`, even if `root` has been renamed
// since it was opened.
absl::StatusOr<UniqueFd> OpenGuardedDirectory(const UniqueFd& root, const GuardedPath& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_
