// Limits on the combined output of a job's ranks on one node, and the check of a job against them.
// Pure.
#ifndef TRAINYARD_WORKER_CORE_RANK_LIMITS_H_
#define TRAINYARD_WORKER_CORE_RANK_LIMITS_H_

#include <cstdint>
#include <deque>
#include <string>

#include "proto/support/clock.h"

namespace trainyard::worker {

// Values of the worker's flags; 0 means no limit unless stated otherwise.
struct RankLimits {
  // Bytes of telemetry written by a job and not yet stored by the controller. Telemetry is never
  // dropped, so it needs a limit.
  int64_t telemetry_bytes = int64_t{256} << 20;
  // Bytes per second of telemetry and of output, averaged over RankUsage::kWindowMs.
  int64_t telemetry_rate = int64_t{8} << 20;
  int64_t log_rate = int64_t{64} << 20;
  // Bytes in the job's directory on the node (the run directories of its ranks and anything next to
  // them), except telemetry. Includes removed files that are still open. 0: a quarter of the disk.
  int64_t run_dir_bytes = 0;
  // Number of files and directories there. 0: a quarter of the number that the disk can hold.
  int64_t run_dir_files = 0;
  // Processes and threads of a rank, at most half of the number that the machine can hold.
  int64_t processes = 32'768;
};

// Capacity of a disk. 0 files: the file system sets no limit.
struct DiskSize {
  int64_t bytes = 0;
  int64_t files = 0;
};

// Files are counted up to this number. A rank's limit is always lower.
inline constexpr int64_t kMostFiles = 1'000'000;

// The limits, adjusted to a disk of this size: a rank must not fill a small disk before it is
// ended.
RankLimits LimitsOnDisk(RankLimits limits, const DiskSize& disk);

// The limits, adjusted to a machine that can hold this many processes.
RankLimits LimitsOnMachine(RankLimits limits, int64_t processes);

// One sentence about a rank with this many processes and threads; empty within the limit.
std::string JudgeProcesses(const RankLimits& limits, int64_t processes);

// Sizes of the files of an attempt's ranks on the node, and of the job's directory. Stream sizes
// only grow.
struct RankFileSizes {
  int64_t telemetry = 0;
  int64_t telemetry_stored = 0;  // Stored by the controller.
  int64_t log = 0;
  int64_t run_dir = 0;
  int64_t run_dir_files = 0;
};

// Recent history of RankFileSizes.
class RankUsage {
 public:
  static constexpr Timestamp kWindowMs = 10'000;

  // Adds the current sizes; `now` is the time of a clock that never goes back. Returns one sentence
  // with the exceeded limit and the remedy; empty if none is exceeded. Rates are measured from the
  // first call, so that a restart of the worker ends no rank.
  std::string Judge(const RankLimits& limits, const RankFileSizes& sizes, Timestamp now);

 private:
  struct Sample {
    Timestamp time_ms = 0;
    int64_t telemetry = 0;
    int64_t log = 0;
  };
  // The first sample is the newest one at least kWindowMs old, or else the oldest one.
  std::deque<Sample> samples_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_RANK_LIMITS_H_
