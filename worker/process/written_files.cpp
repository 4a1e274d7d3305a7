#include "worker/process/written_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

// Reads the flags of open(2), which the kernel prints as an octal number.
bool IsOpenForWriting(pid_t pid, const char* descriptor) {
  std::ifstream info(absl::StrCat("/proc/", pid, "/fdinfo/", descriptor));
  std::string key, value;
  while (info >> key >> value) {
    if (key != "flags:") continue;
    return (std::strtol(value.c_str(), nullptr, 8) & O_ACCMODE) != O_RDONLY;
  }
  return false;
}

void AddFilesWrittenBy(pid_t pid, const std::string& prefix, std::set<std::string>& paths) {
  const std::string directory = absl::StrCat("/proc/", pid, "/fd");
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(opendir(directory.c_str()), closedir);
  if (descriptors == nullptr) return;
  while (const dirent* entry = readdir(descriptors.get())) {
    char target[PATH_MAX];
    const ssize_t length =
        readlinkat(dirfd(descriptors.get()), entry->d_name, target, sizeof(target));
    if (length <= 0) continue;
    const std::string path(target, static_cast<std::size_t>(length));
    if (!absl::StartsWith(path, prefix) || !IsOpenForWriting(pid, entry->d_name)) continue;
    paths.insert(path.substr(prefix.size()));
  }
}

}  // namespace

std::set<std::string> FilesWrittenBelow(const std::vector<pid_t>& processes,
                                        const std::string& directory) {
  std::set<std::string> paths;
  for (const pid_t pid : processes) AddFilesWrittenBy(pid, directory + "/", paths);
  return paths;
}

}  // namespace trainyard::worker
