#include "worker/spool/run_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "worker/spool/data_dir.h"

namespace trainyard::worker {
namespace {

GuardedPath ParentOf(const GuardedPath& path) {
  const std::size_t slash = path.below().rfind('/');
  return {path.root(), slash == std::string::npos ? "" : path.below().substr(0, slash)};
}

std::string NameOf(const GuardedPath& path) {
  return path.below().substr(path.below().rfind('/') + 1);
}

bool Rename(const UniqueFd& parent, const GuardedPath& path, const std::string& name) {
  const std::string to = absl::StrCat(path.root(), "/", name);
  return renameat(parent.get(), NameOf(path).c_str(), AT_FDCWD, to.c_str()) == 0;
}

// Unmounts through the open descriptor of the parent directory, because a job may have replaced a
// parent in the path with a link.
bool Unmount(const UniqueFd& parent, const std::string& name) {
  const std::string path = absl::StrCat("/proc/self/fd/", parent.get(), "/", name);
  return umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
}

absl::Status MakeOne(const GuardedPath& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd parent, OpenGuardedDirectory(ParentOf(directory)));
  const std::string name = NameOf(directory);
  if (mkdirat(parent.get(), name.c_str(), 0700) == 0) return absl::OkStatus();
  if (errno != EEXIST) return ErrnoStatus(errno, "cannot create directory", directory.text());
  if (OpenGuardedDirectory(directory).ok()) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(MoveAside(directory));
  if (mkdirat(parent.get(), name.c_str(), 0700) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot create directory", directory.text());
}

}  // namespace

absl::Status MoveAside(const GuardedPath& path) {
  const std::string name = absl::StrReplaceAll(path.below(), {{"/", "-"}});
  return MoveToRoot(path, absl::StrCat(kRemovedPrefix, name, "-", RandomId()));
}

absl::Status MoveToRoot(const GuardedPath& path, const std::string& name) {
  const absl::StatusOr<UniqueFd> parent = OpenGuardedDirectory(ParentOf(path));
  // If a parent is not a directory of the worker, there is nothing of the worker below it.
  const bool has_nothing =
      absl::IsNotFound(parent.status()) || absl::IsFailedPrecondition(parent.status());
  if (has_nothing) return absl::OkStatus();
  if (!parent.ok()) return parent.status();
  if (Rename(*parent, path, name) || errno == ENOENT) return absl::OkStatus();
  // The rename fails with EBUSY if the job has mounted something at the path. Only root can undo
  // the mount.
  const bool is_unmounted = errno == EBUSY && Unmount(*parent, NameOf(path));
  if (is_unmounted && Rename(*parent, path, name)) return absl::OkStatus();
  if (errno != EBUSY && errno != EPERM) {
    return ErrnoStatus(errno, "cannot move aside", path.text());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path.text(),
      ": a job has mounted a file system at this path; unmount the file system first"));
}

absl::Status MakeRunDirectory(const GuardedPath& directory) {
  std::string below;
  for (const absl::string_view part : absl::StrSplit(directory.below(), '/', absl::SkipEmpty())) {
    absl::StrAppend(&below, below.empty() ? "" : "/", part);
    TRAINYARD_RETURN_IF_ERROR(MakeOne({directory.root(), below}));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::worker
