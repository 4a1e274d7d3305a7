#include "proto/code/directory_names.h"

#include <algorithm>
#include <cerrno>

#include "proto/support/durable_file.h"

namespace trainyard::code {

absl::StatusOr<std::vector<std::string>> NamesIn(DIR* directory, const std::string& path) {
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) return ErrnoStatus(errno, "cannot list", path);
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path) {
  const OpenedDirectory directory(opendir(path.c_str()));
  if (directory == nullptr) return ErrnoStatus(errno, "cannot list", path);
  return NamesIn(directory.get(), path);
}

}  // namespace trainyard::code
