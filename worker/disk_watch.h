// Decides from the disk of the data directory whether the node can take new ranks.
#ifndef TRAINYARD_WORKER_DISK_WATCH_H_
#define TRAINYARD_WORKER_DISK_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/rank_limits.h"

namespace trainyard::worker {

// State of a disk, from statvfs.
struct DiskState {
  int64_t bytes = 0;
  int64_t free_bytes = 0;
  int64_t files = 0;  // Maximum number of files; 0 if the file system has no limit.
  int64_t free_files = 0;
  bool read_only = false;
};

// Used by one thread.
class DiskWatch {
 public:
  // The default for the minimum free space. With less, the node takes no new ranks. On a small
  // disk, a fortieth of the disk is enough.
  static constexpr int64_t kDefaultFloor = int64_t{256} << 20;

  DiskWatch(std::string directory, std::optional<int64_t> floor)
      : directory_(std::move(directory)), floor_(floor) {}

  // Returns the current condition of the disk. Makes one system call. If the call fails, the
  // condition reports trouble.
  v1::NodeCondition Look();

  // The size that the newest call of Look found; zeros before the first call.
  DiskSize size() const { return size_; }

  // Returns the condition for a given state of the disk. Trouble with free space ends only when the
  // free space is a quarter above the floor. Otherwise the condition would change often while the
  // free space is near the floor.
  v1::NodeCondition Judge(const DiskState& disk);

 private:
  int64_t FloorOf(const DiskState& disk) const;

  const std::string directory_;
  const std::optional<int64_t> floor_;
  bool has_problem_ = false;
  DiskSize size_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DISK_WATCH_H_
