// Paths as text, and the file systems of the kernel that hold no data.
#ifndef TRAINYARD_PROTO_CONTRACT_NORMAL_PATH_H_
#define TRAINYARD_PROTO_CONTRACT_NORMAL_PATH_H_

#include <string>
#include <string_view>

namespace trainyard {

// The path without ".", "..", repeated slashes and a slash at the end. Text only: links are not
// read.
std::string NormalPath(std::string_view text);

// True for a path in /proc, /sys or /dev, whose files are made by the kernel and mean something
// else for each process. False for /dev/shm, which is a disk in memory.
bool IsKernelPath(std::string_view path);

// True when the path, or the nearest directory above it that exists, is on a file system of that
// kind, such as proc, sysfs or cgroup, also through a link.
bool IsOnKernelFileSystem(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_NORMAL_PATH_H_
