// Observes the condition of the node: its disk, and the errors of its devices.
#ifndef TRAINYARD_WORKER_CONDITION_WATCH_H_
#define TRAINYARD_WORKER_CONDITION_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/rank_limits.h"
#include "worker/device/kernel_log.h"
#include "worker/disk_watch.h"

namespace trainyard::worker {

// Used by one thread.
class ConditionWatch {
 public:
  // `floor`: see WorkerOptions::free_space_floor.
  ConditionWatch(const std::string& data_dir, std::optional<int64_t> floor)
      : data_dir_(data_dir), disk_(data_dir, floor) {}

  // Returns the current condition. Logs each change of whether the node accepts new ranks. When the
  // disk becomes full, starts to free space in the background.
  v1::NodeCondition Look(Timestamp now);
  // The size that the newest call of Look found.
  DiskSize disk_size() const { return disk_.size(); }

 private:
  void RemoveFormerNodesSoon() const;

  const std::string data_dir_;
  DiskWatch disk_;
  KernelLog kernel_log_;
  // The reason why the node accepts no new ranks; empty if the node accepts new ranks.
  std::string problem_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CONDITION_WATCH_H_
