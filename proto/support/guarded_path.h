// Files of the daemon that programs of users can replace: by a link, a FIFO, or a file system that
// does not answer, mounted there.
#ifndef TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_
#define TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/contract/unique_fd.h"

namespace trainyard {

// The unit of st_blocks and stx_blocks.
inline constexpr int64_t kStatBlockBytes = 512;

// A path of which a part belongs to a program of a user. What is looked at through it lies on the
// disk of `root` and is reached through no link and no mount, so that no call waits for another
// file system. `root` itself belongs to the operator and may be a link.
class GuardedPath {
 public:
  // Only the file's name may have been replaced, not the directory that it is in. Implicit: a path
  // is the common case.
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

// The file at the path, as lstat(2) gives it; nullopt when there is nothing, or when a link or
// another file system lies before it.
std::optional<struct stat> StatGuarded(const GuardedPath& path);

// The same for a regular file only: all else is no file of ours.
std::optional<struct stat> StatGuardedFile(const GuardedPath& path);

// Opens a regular file that exists, with flags of open(2). NOT_FOUND when there is none,
// FAILED_PRECONDITION when the file, or a directory before it, is something else, a link or on
// another file system.
absl::StatusOr<UniqueFd> OpenGuarded(const GuardedPath& path, int flags);

// A directory for O_PATH uses only, as fstat(2), openat(2) and renameat(2). Errors as OpenGuarded.
absl::StatusOr<UniqueFd> OpenGuardedDirectory(const GuardedPath& path);
// Likewise, for a root that is already open and may have been renamed.
absl::StatusOr<UniqueFd> OpenGuardedDirectory(const UniqueFd& root, const GuardedPath& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_GUARDED_PATH_H_
