// The files of one attempt of a job with its own `command`. For checkpoint.watch: reads the
// directory, writes records to the telemetry of a rank, and removes old checkpoints. For
// `tensorboard`: writes the metrics of the event files to the telemetry.
#ifndef TRAINYARD_WORKER_WATCHED_ATTEMPT_H_
#define TRAINYARD_WORKER_WATCHED_ATTEMPT_H_

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/checkpoint_scan.h"
#include "worker/core/watched_checkpoints.h"
#include "worker/tensorboard_watch.h"
#include "worker/watch_reports.h"

namespace trainyard::worker {

struct WatchPlaces {
  GuardedPath telemetry;   // Gets the records.
  std::string state_path;  // File of v1::WatchState.
  // The marks (worker/process/rank_mark.h) of the attempt's ranks on this node.
  std::set<std::string> marks;
  std::string working_directory = "";  // Directory in which the program runs.
};

// Thread-safe. Calls may hang if a file server does not respond, and then block each other.
class WatchedAttempt {
 public:
  // `command` must have checkpoint.watch or tensorboard.
  WatchedAttempt(const v1::StartAttempt& command, WatchPlaces places);

  // Call before the program starts: files that exist now belong to earlier attempts.
  void Begin();
  // `step` is the newest step of the ranks. Returns true if a further look may find a checkpoint
  // complete, or more metrics.
  bool Look(WatchLook look, int64_t step);

 private:
  bool LookForCheckpoints(WatchLook look, int64_t step);
  void Load();
  absl::StatusOr<std::vector<WatchedEntry>> Find();
  absl::Status Write(const WatchOutcome& outcome, WatchLook look);
  void StoreState(const WatchedCheckpoints& watched);
  void Remove(const std::vector<std::string>& paths);

  const std::string name_;
  const WatchPlaces places_;
  const bool has_checkpoints_;
  const CheckpointScan scan_;
  std::mutex mutex_;
  bool is_loaded_ = false;
  WatchedCheckpoints watched_;
  // Device and inode of the directory. A directory that was unmounted is another directory, and
  // must not look like one whose checkpoints were removed.
  std::optional<std::pair<dev_t, ino_t>> directory_;
  WatchReports reports_;
  std::optional<TensorboardWatch> tensorboard_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_WATCHED_ATTEMPT_H_
