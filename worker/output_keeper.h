// Keeps the output of ranks within the limits on disk space.
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
  // Limit on the disk space used by output and telemetry of all ranks together.
  int64_t bytes_max = int64_t{1} << 30;
  // The space to keep free on the disk for ranks, facts and telemetry. At most a twentieth of the
  // disk is kept free.
  int64_t free_min = int64_t{512} << 20;
};

// Used by one thread.
class OutputKeeper {
 public:
  // `path_of` must return the path of a stream's file.
  OutputKeeper(std::string directory, OutputLimits limits,
               std::function<GuardedPath(const v1::StreamId&)> path_of)
      : directory_(std::move(directory)), limits_(limits), path_of_(std::move(path_of)) {}

  // Drops bytes at the front of the ranks' files until enough space is free. First drops bytes that
  // the controller has stored. Then drops output that the controller has not stored, starting with
  // the rank that has the most such output. Telemetry that is not stored is never dropped. While
  // there is enough free space, a call makes only a few system calls per rank.
  void FreeSpace(const std::vector<StreamPosition>& streams);

  // The bytes of output dropped since the worker's start before the controller had stored
  // them.
  int64_t lost_bytes() const { return lost_bytes_; }

 private:
  std::vector<OutputFile> FilesOf(const std::vector<StreamPosition>& streams) const;
  int64_t BytesToFree(const std::vector<StreamPosition>& streams) const;
  void LogError(const std::string& path, const std::string& text);

  const std::string directory_;
  const OutputLimits limits_;
  const std::function<GuardedPath(const v1::StreamId&)> path_of_;
  int64_t lost_bytes_ = 0;
  // The last logged error of each file whose output could not be dropped, by path. Contains only
  // files of existing streams.
  std::map<std::string, std::string> logged_errors_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_OUTPUT_KEEPER_H_
