#include "proto/files/normal_path.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "proto/files/durable_file.h"

namespace trainyard {
namespace {

bool IsIn(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

}  // namespace

std::string NormalPath(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    const bool is_up = part == "..";
    if (is_up && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!is_up || !text.starts_with("/")) {  // The parent of / is /.
      parts.push_back(part);
    }
  }
  std::string path(text.starts_with("/") ? "/" : "");
  for (std::size_t i = 0; i < parts.size(); ++i) path.append(i == 0 ? "" : "/").append(parts[i]);
  return path;
}

bool IsKernelPath(std::string_view path) {
  const std::string normal = NormalPath(path);
  if (IsIn(normal, "/dev/shm")) return false;
  return IsIn(normal, "/proc") || IsIn(normal, "/sys") || IsIn(normal, "/dev");
}

bool IsOnKernelFileSystem(const std::string& path) {
  static constexpr decltype(std::declval<struct statfs>().f_type) kTypes[] = {
      PROC_SUPER_MAGIC, SYSFS_MAGIC,   CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC,
      DEBUGFS_MAGIC,    TRACEFS_MAGIC, SECURITYFS_MAGIC,   BPF_FS_MAGIC,        PSTOREFS_MAGIC,
      EFIVARFS_MAGIC,   SELINUX_MAGIC, BINFMTFS_MAGIC};
  struct statfs found {};
  std::string at = NormalPath(path);
  while (statfs(at.c_str(), &found) != 0) {
    if ((errno != ENOENT && errno != ENOTDIR) || at == "/" || at == ".") return false;
    at = NormalPath(DirectoryOf(at));
    if (at.empty()) at = ".";
  }
  return std::find(std::begin(kTypes), std::end(kTypes), found.f_type) != std::end(kTypes);
}

}  // namespace trainyard
