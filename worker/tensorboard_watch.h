// Reads the TensorBoard event files of a program (`tensorboard` in the job file), and writes their
// metrics to the telemetry of a rank.
#ifndef TRAINYARD_WORKER_TENSORBOARD_WATCH_H_
#define TRAINYARD_WORKER_TENSORBOARD_WATCH_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/watch_state.pb.h"
#include "worker/core/watched_checkpoints.h"
#include "worker/watch_reports.h"

namespace trainyard::worker {

// Used by one thread at a time. Calls may hang if a file server does not respond.
class TensorboardWatch {
 public:
  struct Options {
    std::string name;       // Name of the attempt, for the log.
    std::string directory;  // Event files are in this directory and up to three levels below it.
    GuardedPath telemetry;
    std::string state_path;  // File of v1::TensorboardState.
  };

  // Limits on the event files of an attempt, and on the bytes that one look reads from a file.
  static constexpr int kMostEventFiles = 256;
  static constexpr std::size_t kMostLookBytes = 4 << 20;
  // A file that has not grown for this long is idle: its last step is complete.
  static constexpr std::chrono::seconds kIdleAfter{2};

  explicit TensorboardWatch(Options options);

  // Call before the program starts: bytes that exist now belong to earlier attempts.
  void Begin();
  // Reads new bytes. Returns true if there are more bytes to read.
  bool Look(WatchLook look);

 private:
  struct Growth {
    int64_t bytes = 0;
    std::chrono::steady_clock::time_point since;
  };

  void Load();
  // Returns the size of each event file, by path below the directory.
  absl::StatusOr<std::map<std::string, int64_t>> Sizes() const;
  bool IsIdle(const std::string& path, int64_t bytes);
  // Adds the lines of the new steps and advances the file. Returns true if bytes are left.
  absl::StatusOr<bool> ReadFile(int64_t bytes, bool idle, v1::TensorboardFile& file,
                                std::string& lines);
  void StoreState() const;

  const Options options_;
  bool is_loaded_ = false;
  std::map<std::string, v1::TensorboardFile> files_;  // By path.
  std::map<std::string, Growth> growth_;              // By path.
  WatchReports reports_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TENSORBOARD_WATCH_H_
