#include "proto/support/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/contract/unique_fd.h"
#include "proto/support/durable_file.h"

namespace trainyard {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Type and disk by what the kernel knows already: a file system that hangs is not asked.
bool Look(int parent, const char* name, struct statx& found) {
  const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  return statx(parent, name, flags, STATX_TYPE, &found) == 0;
}

bool IsDirectory(int parent, const char* name) {
  struct statx found {};
  return Look(parent, name, found) && S_ISDIR(found.stx_mode);
}

// Makes the directory readable, and movable to another parent. Best effort: the next call fails
// with the reason.
void Unlock(int parent, const char* name) { fchmodat(parent, name, 0700, 0); }

void ForEachName(int directory, const std::function<void(const char*)>& visit) {
  UniqueFd copy(openat(directory, ".", kDirectoryFlags));
  const std::unique_ptr<DIR, int (*)(DIR*)> names(fdopendir(copy.get()), closedir);
  if (names == nullptr) return;
  copy.Release();
  while (const dirent* entry = readdir(names.get())) {
    const bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (!is_dots) visit(entry->d_name);
  }
}

// Moves every directory up to the root before it enters it. So no depth needs descriptors, and the
// kernel refuses what must not be entered: a directory on which something is mounted cannot be
// moved.
class TreeRemover {
 public:
  explicit TreeRemover(int root) : root_(root) { Look(root, "", disk_); }

  // Returns an error of what is left, 0 when the root is empty.
  int Run() {
    bool progress = true;
    while (progress) {
      error_ = 0;
      const int64_t before = done_;
      ForEachName(root_, [this](const char* name) { RemoveTop(name); });
      progress = done_ > before;
    }
    return error_;
  }

 private:
  // True for what another file system has mounted; it is noted as busy.
  bool IsForeign(int parent, const char* name) {
    struct statx found {};
    const bool is_here =
        !Look(parent, name, found) ||
        (found.stx_dev_major == disk_.stx_dev_major && found.stx_dev_minor == disk_.stx_dev_minor);
    if (!is_here) Note(EBUSY);
    return !is_here;
  }

  void RemoveTop(const char* name) {
    if (IsForeign(root_, name)) return;
    if (!IsDirectory(root_, name)) return Unlink(root_, name, 0);
    const std::string moved = MoveUp(root_, name);
    if (moved.empty()) return;
    Unlock(root_, moved.c_str());
    const UniqueFd directory(openat(root_, moved.c_str(), kDirectoryFlags));
    if (directory.valid()) Empty(directory.get());
    Unlink(root_, moved.c_str(), AT_REMOVEDIR);
  }

  void Empty(int directory) {
    ForEachName(directory, [&](const char* name) {
      if (IsForeign(directory, name)) return;
      if (!IsDirectory(directory, name)) return Unlink(directory, name, 0);
      Unlock(directory, name);
      if (!MoveUp(directory, name).empty()) ++done_;
    });
  }

  void Unlink(int parent, const char* name, int flags) {
    if (unlinkat(parent, name, flags) == 0) {
      ++done_;
    } else {
      Note(errno);
    }
  }

  // A directory that is not empty is the consequence of what could not be removed from it.
  void Note(int error) {
    const bool is_consequence = error == ENOTEMPTY && error_ != 0;
    if (error != ENOENT && !is_consequence) error_ = error;
  }

  // Gives the directory a new name in the root; empty when that failed.
  std::string MoveUp(int parent, const char* name) {
    for (;;) {
      std::string moved = absl::StrCat(".", ++names_);
      // A rename to its own name would not tell whether something is mounted there.
      if (moved == name) continue;
      // An empty directory of this name is replaced, which removes it.
      if (renameat(parent, name, root_, moved.c_str()) == 0) return moved;
      if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) continue;
      Note(errno);
      return "";
    }
  }

  const int root_;
  struct statx disk_ {};  // Of the root.
  int64_t names_ = 0;
  int64_t done_ = 0;  // Entries that were removed or moved up.
  int error_ = 0;
};

absl::Status Left(int error, const std::string& path) {
  if (error == 0 || error == ENOENT) return absl::OkStatus();
  const absl::Status status = ErrnoStatus(error, "cannot remove", path);
  if (error != EBUSY) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; something is mounted below it (see ",
                                   "/proc/mounts) and stays untouched: unmount it"));
}

}  // namespace

absl::Status RemoveTree(const std::string& path) {
  if (!IsDirectory(AT_FDCWD, path.c_str())) {
    return Left(unlink(path.c_str()) == 0 ? 0 : errno, path);
  }
  Unlock(AT_FDCWD, path.c_str());
  const UniqueFd root(open(path.c_str(), kDirectoryFlags));
  if (!root.valid()) return Left(errno, path);
  const int error = TreeRemover(root.get()).Run();
  if (error != 0) return Left(error, path);
  return Left(rmdir(path.c_str()) == 0 ? 0 : errno, path);
}

}  // namespace trainyard
