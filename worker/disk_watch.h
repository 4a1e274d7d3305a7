// Decides by the disk of the data directory whether the node can take new ranks.
#ifndef TRAINYARD_WORKER_DISK_WATCH_H_
#define TRAINYARD_WORKER_DISK_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/rank_limits.h"

namespace trainyard::worker {

// A disk as statvfs describes it.
struct DiskState {
  int64_t bytes = 0;
  int64_t free_bytes = 0;
  int64_t files = 0;  // That the file system can hold; 0 where it has no limit.
  int64_t free_files = 0;
  bool read_only = false;
};

// One thread.
class DiskWatch {
 public:
  // Free space below which the node takes no new rank, unless the worker was given another: at most
  // a fortieth of the disk.
  static constexpr int64_t kDefaultFloor = int64_t{256} << 20;

  DiskWatch(std::string directory, std::optional<int64_t> floor)
      : directory_(std::move(directory)), floor_(floor) {}

  // The condition of the disk now, one system call. A disk that cannot be looked at is in trouble.
  v1::NodeCondition Look();

  // Of the newest look; zeros before the first.
  DiskSize size() const { return size_; }

  // The same for a given state of the disk. Trouble with free space ends once there is a quarter
  // more than the floor: a disk that hovers at the floor does not flap.
  v1::NodeCondition Judge(const DiskState& disk);

 private:
  int64_t FloorOf(const DiskState& disk) const;

  const std::string directory_;
  const std::optional<int64_t> floor_;
  bool in_trouble_ = false;
  DiskSize size_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DISK_WATCH_H_
