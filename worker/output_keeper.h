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
  // Limit on the disk space used by output and telemetry of all ranks together.
  int64_t bytes_max = int64_t{1} << 30;
  // Space to keep free on the disk for ranks, facts and telemetry, but at most a twentieth of the
  // disk.
  int64_t free_min = int64_t{512} << 20;
};

// Used by one thread.
class OutputKeeper {
 public:
  // `path_of` returns the file of a stream.
  OutputKeeper(std::string directory, OutputLimits limits,
               std::function<GuardedPath(const v1::StreamId&)> path_of)
      : directory_(std::move(directory)), limits_(limits), path_of_(std::move(path_of)) {}

  // Drops the front of the ranks' files as far as needed: first bytes stored by the controller,
  // then output, starting with the rank that has the most unstored output. Telemetry not yet stored
  // is never dropped. Cheap while there is free space: a few system calls per rank.
  void FreeSpace(const std::vector<StreamPosition>& streams);

  // Output dropped since the start before the controller stored it.
  int64_t lost_bytes() const { return lost_bytes_; }

 private:
  std::vector<OutputFile> FilesOf(const std::vector<StreamPosition>& streams) const;
  int64_t BytesToFree(const std::vector<StreamPosition>& streams) const;
  void LogError(const std::string& path, const std::string& text);

  const std::string directory_;
  const OutputLimits limits_;
  const std::function<GuardedPath(const v1::StreamId&)> path_of_;
  int64_t lost_bytes_ = 0;
  // Files whose output could not be dropped, by path, with the last logged error. Only files of
  // existing streams.
  std::map<std::string, std::string> logged_errors_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_OUTPUT_KEEPER_H_
