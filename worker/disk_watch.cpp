#include "worker/disk_watch.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainyard::worker {
namespace {

// The minimum number of free files. Starting a rank creates about ten files.
constexpr int64_t kFreeFilesFloor = 1000;

std::string MebibytesText(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

int64_t DiskWatch::FloorOf(const DiskState& disk) const {
  return floor_.value_or(std::min(kDefaultFloor, disk.bytes / 40));
}

v1::NodeCondition DiskWatch::Judge(const DiskState& disk) {
  size_ = {.bytes = disk.bytes, .files = disk.files};
  v1::NodeCondition condition;
  condition.set_disk_bytes(disk.bytes);
  condition.set_disk_free_bytes(disk.free_bytes);
  const int64_t floor = FloorOf(disk);
  const int64_t files_floor = std::min(kFreeFilesFloor, disk.files / 40);
  const int64_t more = has_problem_ ? 4 : 0;  // Hysteresis: a problem ends at its limit plus 25 %.
  const auto above = [&](int64_t least) { return more == 0 ? least : least + least / more; };
  if (disk.read_only) {
    condition.set_trouble(
        absl::StrCat("the disk of ", directory_,
                     " is mounted read-only; see dmesg for the cause, then mount the disk again"));
  } else if (disk.free_bytes < above(floor)) {
    condition.set_trouble(
        absl::StrCat("the disk of ", directory_, " has ", MebibytesText(disk.free_bytes),
                     " free, but ranks need ", MebibytesText(above(floor)),
                     "; free disk space, or lower the worker's --free-space-floor"));
  } else if (disk.free_files < above(files_floor)) {
    condition.set_trouble(absl::StrCat("the disk of ", directory_, " has only ", disk.free_files,
                                       " free inodes; remove some files"));
  }
  has_problem_ = !condition.trouble().empty();
  return condition;
}

v1::NodeCondition DiskWatch::Look() {
  struct statvfs found {};
  if (statvfs(directory_.c_str(), &found) != 0) {
    v1::NodeCondition condition;
    condition.set_trouble(absl::StrCat("cannot read ", directory_, ": ", strerror(errno)));
    has_problem_ = true;
    return condition;
  }
  const auto block = static_cast<int64_t>(found.f_frsize);
  return Judge({.bytes = static_cast<int64_t>(found.f_blocks) * block,
                .free_bytes = static_cast<int64_t>(found.f_bavail) * block,
                .files = static_cast<int64_t>(found.f_files),
                .free_files = static_cast<int64_t>(found.f_favail),
                .read_only = (found.f_flag & ST_RDONLY) != 0});
}

}  // namespace trainyard::worker
