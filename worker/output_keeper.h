// Keeps the output of ranks within its limits on disk.
#ifndef TRAINYARD_WORKER_OUTPUT_KEEPER_H_
#define TRAINYARD_WORKER_OUTPUT_KEEPER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "proto/support/guarded_path.h"
#include "worker/core/uplink.h"
#include "worker/spool/output_space.h"

namespace trainyard::worker {

struct OutputLimits {
  // Disk space that output and telemetry of all ranks may take together.
  int64_t bytes_max = int64_t{1} << 30;
  // Space to keep free on the disk for ranks, facts and telemetry; at most a twentieth of the disk
  // is kept free.
  int64_t free_min = int64_t{512} << 20;
};

// One thread.
class OutputKeeper {
 public:
  // `path_of` gives the file of a stream.
  OutputKeeper(std::string directory, OutputLimits limits,
               std::function<GuardedPath(const v1::StreamId&)> path_of)
      : directory_(std::move(directory)), limits_(limits), path_of_(std::move(path_of)) {}

  // Drops the front of the ranks' files as far as needed: first the bytes that the controller has
  // stored, then output, that of the rank with the most of it first. Telemetry that is not stored
  // is never touched. Cheap when there is free space: a few system calls a rank.
  void FreeSpace(const std::vector<StreamPosition>& streams);

  // Output dropped since the start that the controller had not stored.
  int64_t lost_bytes() const { return lost_bytes_; }

 private:
  std::vector<OutputFile> FilesOf(const std::vector<StreamPosition>& streams) const;
  int64_t BytesToFree(const std::vector<StreamPosition>& streams) const;
  void LogError(const std::string& path, const std::string& text);

  const std::string directory_;
  const OutputLimits limits_;
  const std::function<GuardedPath(const v1::StreamId&)> path_of_;
  int64_t lost_bytes_ = 0;
  // Path of a file whose output could not be dropped -> the error that was logged last. Only files
  // of streams that still exist.
  std::map<std::string, std::string> logged_errors_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_OUTPUT_KEEPER_H_
