#include "worker/condition_watch.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/support/detached_thread.h"
#include "spdlog/spdlog.h"
#include "worker/spool/data_dir.h"

namespace trainyard::worker {

v1::NodeCondition ConditionWatch::Look(Timestamp now) {
  v1::NodeCondition condition = disk_.Look();
  if (std::exchange(problem_, condition.trouble()).empty() != condition.trouble().empty()) {
    spdlog::warn("{}", condition.trouble().empty()
                           ? "the disk has space again, so the node accepts new ranks"
                           : "the node accepts no new ranks: " + condition.trouble());
    if (!condition.trouble().empty()) RemoveFormerNodesSoon();
  }
  const std::vector<v1::DeviceError> errors = kernel_log_.Read(now);
  condition.mutable_device_errors()->Assign(errors.begin(), errors.end());
  return condition;
}

// Runs in the background, because the removal of large trees takes long and may never end on a
// failing disk.
void ConditionWatch::RemoveFormerNodesSoon() const {
  const absl::Status started = RunDetached("remove files of former nodes", [dir = data_dir_] {
    const int removed = RemoveFormerNodes(dir);
    if (removed > 0)
      spdlog::warn(
          "removed the files that this machine kept from {} earlier node id(s), to free disk space",
          removed);
  });
  if (!started.ok())
    spdlog::warn("cannot remove the files that this machine kept from earlier node ids: {}",
                 started.ToString());
}

}  // namespace trainyard::worker
