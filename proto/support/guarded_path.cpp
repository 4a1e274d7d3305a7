#include "proto/support/guarded_path.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/files/file_place.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

// Returns the root and the first `size` characters of the path below the root.
std::string TextUpTo(const GuardedPath& path, std::size_t size) {
  return absl::StrCat(path.root(), "/", path.below().substr(0, size));
}

absl::Status Foreign(const std::string& text, const UniqueFd& fd, const FilePlace& place) {
  if (!place.IsLink()) {
    return absl::FailedPreconditionError(absl::StrCat(
        text, " is not a file of the expected kind, or another file system is mounted there"));
  }
  char target[PATH_MAX];
  const ssize_t size = readlinkat(fd.get(), "", target, sizeof(target));
  return absl::FailedPreconditionError(
      absl::StrCat(text, " is a symbolic link to ",
                   absl::string_view(target, static_cast<std::size_t>(std::max<ssize_t>(size, 0))),
                   ", which is not followed"));
}

// Opens the file at `path` below the open root `fd`. Uses O_PATH, which does not access the file
// itself, so that a hung file system does not block the call.
absl::StatusOr<UniqueFd> ReachFrom(UniqueFd fd, const GuardedPath& path) {
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path.root());
  const std::optional<FilePlace> root = PlaceOf(fd.get(), "");
  if (!root.has_value()) return ErrnoStatus(errno, "cannot read", path.root());
  std::optional<FilePlace> place = root;
  std::size_t end = 0;
  for (const absl::string_view part : absl::StrSplit(path.below(), '/', absl::SkipEmpty())) {
    if (!place->IsDirectory()) return Foreign(TextUpTo(path, end), fd, *place);
    UniqueFd next(openat(fd.get(), std::string(part).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return ErrnoStatus(errno, "cannot open", path.text());
    fd = std::move(next);
    end = static_cast<std::size_t>(part.data() - path.below().data()) + part.size();
    place = PlaceOf(fd.get(), "");
    if (!place.has_value()) return ErrnoStatus(errno, "cannot read", path.text());
    if (!place->IsOnMountOf(*root)) return Foreign(TextUpTo(path, end), fd, *place);
  }
  return fd;
}

absl::StatusOr<UniqueFd> Reach(const GuardedPath& path) {
  return ReachFrom(UniqueFd(open(path.root().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), path);
}

absl::StatusOr<UniqueFd> OnlyDirectory(absl::StatusOr<UniqueFd> fd, const GuardedPath& path) {
  if (!fd.ok()) return fd;
  const std::optional<FilePlace> place = PlaceOf(fd->get(), "");
  if (!place.has_value()) return ErrnoStatus(errno, "cannot read", path.text());
  if (!place->IsDirectory()) return Foreign(path.text(), *fd, *place);
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
  const std::optional<FilePlace> place = PlaceOf(reached.get(), "");
  if (!place.has_value()) return ErrnoStatus(errno, "cannot read", path.text());
  if (!S_ISREG(place->mode)) return Foreign(path.text(), reached, *place);
  const std::string self = absl::StrCat("/proc/self/fd/", reached.get());
  UniqueFd fd(open(self.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path.text());
  return fd;
}

absl::StatusOr<UniqueFd> OpenGuardedDirectory(const GuardedPath& path) {
  return OnlyDirectory(Reach(path), path);
}

absl::StatusOr<UniqueFd> OpenGuardedDirectory(const UniqueFd& root, const GuardedPath& path) {
  UniqueFd again(openat(root.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return OnlyDirectory(ReachFrom(std::move(again), path), path);
}

}  // namespace trainyard
