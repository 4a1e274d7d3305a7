// Normalizes paths, and detects paths on kernel file systems.
#ifndef TRAINYARD_PROTO_FILES_NORMAL_PATH_H_
#define TRAINYARD_PROTO_FILES_NORMAL_PATH_H_

#include <string>
#include <string_view>

namespace trainyard {

// Returns the path without ".", "..", repeated slashes and a trailing slash. Does not resolve
// links.
std::string NormalPath(std::string_view text);

// True if the path is in /proc, /sys or /dev. The kernel creates the files there, and the files may
// differ between processes. False for /dev/shm, which is a RAM disk.
bool IsKernelPath(std::string_view path);

// True if the path is on a kernel file system such as proc, sysfs or cgroup. For a missing path,
// checks the nearest existing parent. Follows links.
bool IsOnKernelFileSystem(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_NORMAL_PATH_H_
