#include "proto/support/guarded_path.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

// Type and disk of what a descriptor refers to, by what the kernel knows already: asking a file
// system that hangs would wait.
struct Node {
  mode_t mode = 0;
  uint32_t major = 0;
  uint32_t minor = 0;

  bool IsOnDiskOf(const Node& other) const { return major == other.major && minor == other.minor; }
};

std::optional<Node> Look(int fd) {
  struct statx found {};
  const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  if (statx(fd, "", flags, STATX_TYPE, &found) != 0) return std::nullopt;
  return Node{found.stx_mode, found.stx_dev_major, found.stx_dev_minor};
}

absl::Status Foreign(const GuardedPath& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(path.text(), " is not a file of this disk: a link, another file system or ",
                   "something else is in its place"));
}

// What is at the path, opened without the wish to read it: O_PATH calls no file system.
absl::StatusOr<UniqueFd> Reach(const GuardedPath& path) {
  UniqueFd fd(open(path.root().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path.root());
  const std::optional<Node> root = Look(fd.get());
  std::optional<Node> node = root;
  for (const absl::string_view part : absl::StrSplit(path.below(), '/', absl::SkipEmpty())) {
    if (!node.has_value() || !S_ISDIR(node->mode)) return Foreign(path);
    UniqueFd next(openat(fd.get(), std::string(part).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return ErrnoStatus(errno, "cannot open", path.text());
    fd = std::move(next);
    node = Look(fd.get());
    if (!node.has_value() || !node->IsOnDiskOf(*root)) return Foreign(path);
  }
  return fd;
}

}  // namespace

GuardedPath::GuardedPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const bool has_directory = slash != std::string::npos;
  root_ = has_directory ? path.substr(0, slash) : ".";
  below_ = has_directory ? path.substr(slash + 1) : path;
}

std::optional<struct stat> StatGuarded(const GuardedPath& path) {
  const absl::StatusOr<UniqueFd> fd = Reach(path);
  struct stat info {};
  if (!fd.ok() || fstat(fd->get(), &info) != 0) return std::nullopt;
  return info;
}

std::optional<struct stat> StatGuardedFile(const GuardedPath& path) {
  const std::optional<struct stat> info = StatGuarded(path);
  return info.has_value() && S_ISREG(info->st_mode) ? info : std::nullopt;
}

absl::StatusOr<UniqueFd> OpenGuarded(const GuardedPath& path, int flags) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd reached, Reach(path));
  const std::optional<Node> node = Look(reached.get());
  if (!node.has_value() || !S_ISREG(node->mode)) return Foreign(path);
  const std::string self = absl::StrCat("/proc/self/fd/", reached.get());
  UniqueFd fd(open(self.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path.text());
  return fd;
}

absl::StatusOr<UniqueFd> OpenGuardedDirectory(const GuardedPath& path) {
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd fd, Reach(path));
  const std::optional<Node> node = Look(fd.get());
  if (!node.has_value() || !S_ISDIR(node->mode)) return Foreign(path);
  return fd;
}

}  // namespace trainyard
