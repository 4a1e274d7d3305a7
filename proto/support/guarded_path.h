// The daemon's files in places where user programs can replace them by a link, a FIFO, or a mounted
// file system that does not answer.
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

// Unit of st_blocks and stx_blocks.
inline constexpr int64_t kStatBlockBytes = 512;

// A path of which a user program may control a part. Files are accessed through it only on the disk
// of `root` and only without links or mounts on the way, so that no call waits for another file
// system. `root` itself belongs to the operator and may be a link.
class GuardedPath {
 public:
  // Only the last component may have been replaced, not its directory. Implicit: a path is the
  // common case.
  GuardedPath(const std::string& path);  // NOLINT(google-explicit-constructor)
  GuardedPath(const char* path) : GuardedPath(std::string(path)) {}  // NOLINT
  // Everything below the directory `root` may have been replaced: "3/1/rank0/telemetry.jsonl".
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

// lstat(2) of the path; nullopt if it does not exist, or if a link or another file system is on the
// way.
std::optional<struct stat> StatGuarded(const GuardedPath& path);

// Like StatGuarded, but nullopt unless the path is a regular file.
std::optional<struct stat> StatGuardedFile(const GuardedPath& path);

// Opens an existing regular file with flags of open(2). NOT_FOUND if it does not exist.
// FAILED_PRECONDITION if the file, or a directory before it, is of another type, a link, or on
// another file system.
absl::StatusOr<UniqueFd> OpenGuarded(const GuardedPath& path, int flags);

// Opens a directory for O_PATH uses only, such as fstat(2), openat(2) and renameat(2). Errors as in
// OpenGuarded.
absl::StatusOr<UniqueFd> OpenGuardedDirectory(const GuardedPath& path);
// Opens the directory below an open root, which may have been renamed.
absl::StatusOr<UniqueFd> OpenGuardedDirectory(const UniqueFd& root, const GuardedPath& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_
