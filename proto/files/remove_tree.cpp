#include "proto/files/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "proto/files/file_place.h"
#include "proto/files/unique_fd.h"

namespace trainyard {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool IsDirectory(int parent, const char* name) {
  const std::optional<FilePlace> place = PlaceOf(parent, name);
  return place.has_value() && place->IsDirectory();
}

// Gives the owner all permissions on the directory, so that it can be read and moved to another
// parent. Errors are ignored, because the next call fails for the same reason. fchmodat(2) cannot
// be used, because it follows links.
void Unlock(int parent, const char* name) {
  const UniqueFd directory(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::optional<FilePlace> place =
      directory.valid() ? PlaceOf(directory.get(), "") : std::nullopt;
  if (!place.has_value() || (place->mode & S_IRWXU) == S_IRWXU) return;
  chmod(("/proc/self/fd/" + std::to_string(directory.get())).c_str(), 0700);
}

void ForEachName(int directory, const std::function<bool(const char*)>& visit) {
  UniqueFd copy(openat(directory, ".", kDirectoryFlags));
  const std::unique_ptr<DIR, int (*)(DIR*)> names(fdopendir(copy.get()), closedir);
  if (names == nullptr) return;
  copy.Release();
  while (const dirent* entry = readdir(names.get())) {
    const bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (!is_dots && !visit(entry->d_name)) return;
  }
}

// Empties a directory, the root. Moves each subdirectory to the root before entering it. The number
// of open descriptors therefore does not depend on the depth of the tree. A mount cannot be
// entered, because the kernel refuses to move a directory on which something is mounted.
class TreeRemover {
 public:
  TreeRemover(int root, const FilePlace& place, int64_t max_entries)
      : root_(root), place_(place), max_entries_(max_entries) {}

  // Returns 0 if the root is empty, EAGAIN if the limit of entries was reached, and otherwise the
  // error of a remaining entry.
  int Run() {
    bool progress = true;
    while (progress && !IsSpent()) {
      error_ = 0;
      const int64_t before = done_;
      ForEachName(root_, [this](const char* name) {
        RemoveTop(name);
        return !IsSpent();
      });
      progress = done_ > before;
    }
    return IsSpent() ? EAGAIN : error_;
  }

 private:
  bool IsSpent() const { return done_ >= max_entries_; }

  // Returns true if the entry is a mount, and records EBUSY for the mount.
  bool IsForeign(int parent, const char* name) {
    const std::optional<FilePlace> found = PlaceOf(parent, name);
    const bool is_here = !found.has_value() || found->IsOnMountOf(place_);
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
      if (!IsForeign(directory, name)) RemoveBelow(directory, name);
      return !IsSpent();
    });
  }

  void RemoveBelow(int directory, const char* name) {
    if (!IsDirectory(directory, name)) return Unlink(directory, name, 0);
    Unlock(directory, name);
    if (!MoveUp(directory, name).empty()) ++done_;
  }

  void Unlink(int parent, const char* name, int flags) {
    if (unlinkat(parent, name, flags) == 0) {
      ++done_;
    } else {
      Note(errno);
    }
  }

  // Records an error. Ignores ENOENT. Ignores ENOTEMPTY if it follows another error, because a
  // failed removal inside a directory makes the removal of the directory fail too.
  void Note(int error) {
    const bool is_consequence = error == ENOTEMPTY && error_ != 0;
    if (error != ENOENT && !is_consequence) error_ = error;
  }

  // Moves the directory to the root under a new name and returns the name; empty on failure.
  std::string MoveUp(int parent, const char* name) {
    for (;;) {
      std::string moved = "." + std::to_string(++names_);
      // Skip the current name: a rename to the same name succeeds even if something is mounted
      // there.
      if (moved == name) continue;
      // If `moved` is an empty directory, the rename replaces it, and thereby removes it.
      if (renameat(parent, name, root_, moved.c_str()) == 0) return moved;
      if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) continue;
      Note(errno);
      return "";
    }
  }

  const int root_;
  const FilePlace place_;  // Place of the root.
  const int64_t max_entries_;
  int64_t names_ = 0;
  int64_t done_ = 0;  // Number of entries removed or moved up.
  int error_ = 0;
};

FileResult Left(int error, const std::string& path) {
  if (error == 0 || error == ENOENT) return std::nullopt;
  return FileError{error, "cannot remove " + path};
}

FileResult RemoveDirectory(int parent, const std::string& name, const std::string& path,
                           int64_t max_entries) {
  Unlock(parent, name.c_str());
  const UniqueFd root(openat(parent, name.c_str(), kDirectoryFlags));
  if (!root.valid()) return Left(errno, path);
  const std::optional<FilePlace> above = PlaceOf(parent, "");
  const std::optional<FilePlace> place = PlaceOf(root.get(), "");
  if (!above.has_value() || !place.has_value()) return Left(errno, path);
  if (!place->IsOnMountOf(*above)) return Left(EBUSY, path);
  const int error = TreeRemover(root.get(), *place, max_entries).Run();
  if (error != 0) return Left(error, path);
  return Left(unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno, path);
}

}  // namespace

FileResult RemoveEntry(int parent, const std::string& name, const std::string& path,
                       int64_t max_entries) {
  const std::optional<FilePlace> place = PlaceOf(parent, name.c_str());
  if (!place.has_value()) return Left(errno, path);
  if (place->IsDirectory()) return RemoveDirectory(parent, name, path, max_entries);
  return Left(unlinkat(parent, name.c_str(), 0) == 0 ? 0 : errno, path);
}

FileResult RemoveEntry(const std::string& path) {
  std::string end = path;
  while (end.size() > 1 && end.back() == '/') end.pop_back();
  const UniqueFd parent(open(DirectoryOf(end).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid()) return Left(errno, path);
  return RemoveEntry(parent.get(), end.substr(end.rfind('/') + 1), path);
}

std::string LinkNote(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    char target[PATH_MAX];
    const ssize_t size = readlink(part.c_str(), target, sizeof(target));
    if (size >= 0) {
      const std::string to(target, static_cast<std::size_t>(size));
      return " (" + part + " is a symbolic link to " + to + ")";
    }
    if (slash == std::string::npos) return "";
  }
}

}  // namespace trainyard
