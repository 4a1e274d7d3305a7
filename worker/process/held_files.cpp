#include "worker/process/held_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {
namespace {

// Adds up the sizes of deleted files that processes have open.
class HeldFiles {
 public:
  explicit HeldFiles(const std::string& directory) : below_(directory + "/") {}

  void AddOpenFilesOf(pid_t pid) {
    const std::string path = absl::StrCat("/proc/", pid, "/fd");
    const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(path.c_str()), closedir);
    if (files == nullptr) return;
    while (const dirent* entry = readdir(files.get())) {
      if (WasBelow(dirfd(files.get()), entry->d_name)) Add(dirfd(files.get()), entry->d_name);
    }
  }

  int64_t bytes() const { return bytes_; }

 private:
  // The kernel keeps reporting the former path of a deleted file.
  bool WasBelow(int files, const char* name) const {
    char target[PATH_MAX];
    const ssize_t length = readlinkat(files, name, target, sizeof(target));
    return length > 0 && absl::StartsWith({target, static_cast<std::size_t>(length)}, below_);
  }

  void Add(int files, const char* name) {
    struct statx file {};
    const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    const int mask = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BLOCKS;
    if (statx(files, name, flags, mask, &file) != 0) return;
    if (!S_ISREG(file.stx_mode) || file.stx_nlink > 0) return;
    if (!counted_.insert(file.stx_ino).second) return;
    bytes_ += static_cast<int64_t>(file.stx_blocks) * kStatBlockBytes;
  }

  const std::string below_;
  std::set<uint64_t> counted_;
  int64_t bytes_ = 0;
};

}  // namespace

int64_t HeldBytes(const std::vector<pid_t>& processes, const std::string& directory) {
  HeldFiles held(directory);
  for (const pid_t pid : processes) held.AddOpenFilesOf(pid);
  return held.bytes();
}

}  // namespace trainyard::worker
