// Finds the files and directories that match checkpoint.watch, and removes them for retention.
#ifndef TRAINYARD_WORKER_CHECKPOINT_SCAN_H_
#define TRAINYARD_WORKER_CHECKPOINT_SCAN_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"
#include "worker/core/watched_checkpoints.h"

namespace trainyard::worker {

// A directory and a pattern. Symbolic links below the directory are neither followed nor matched,
// and mounts below it are not entered. All functions may hang if a file server does not respond.
class CheckpointScan {
 public:
  // Names and files that one scan reads at most.
  static constexpr int64_t kMostNames = 100'000;
  static constexpr int kMostLevels = 16;

  // `pattern` as in checkpoint.watch.
  CheckpointScan(std::string directory, const std::string& pattern);

  // `is_recorded` returns true for a directory whose files need not be read. NOT_FOUND: the
  // directory does not exist. RESOURCE_EXHAUSTED: the limits are exceeded. Errors name the path and
  // the next step.
  absl::StatusOr<std::vector<WatchedEntry>> Find(
      const std::function<bool(const std::string& path)>& is_recorded) const;

  // Removes the file or the directory tree at `path`, below the directory. FAILED_PRECONDITION if
  // the path does not match the pattern.
  absl::Status Remove(const std::string& path) const;

  // Returns the directory without symbolic links, as the kernel reports it; empty if it is missing.
  std::string RealDirectory() const;
  const std::string& directory() const { return directory_; }

 private:
  absl::StatusOr<UniqueFd> Open() const;

  const std::string directory_;
  const std::vector<std::string> parts_;
};

// True for a name that programs use for files in progress, such as "a.pt.tmp".
bool IsTemporaryName(const std::string& name);

// Sets in_progress of the entries that contain one of the written files.
void MarkWritten(const std::set<std::string>& written, std::vector<WatchedEntry>& entries);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CHECKPOINT_SCAN_H_
