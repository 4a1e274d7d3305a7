// Limits on the bytes, files and processes of a job's ranks on one node, and the check of a job
// against these limits. Pure.
#ifndef TRAINYARD_WORKER_CORE_RANK_LIMITS_H_
#define TRAINYARD_WORKER_CORE_RANK_LIMITS_H_

#include <cstdint>
#include <deque>
#include <string>

#include "proto/support/clock.h"

namespace trainyard::worker {

// Values of the worker's flags; 0 means no limit unless stated otherwise.
struct RankLimits {
  // The limit on bytes of telemetry that a job has written but the controller has not stored yet.
  // Telemetry needs a limit, because telemetry is never dropped.
  int64_t telemetry_bytes = int64_t{256} << 20;
  // The limits on telemetry and on output in bytes per second, averaged over RankUsage::kWindowMs.
  int64_t telemetry_rate = int64_t{8} << 20;
  int64_t log_rate = int64_t{64} << 20;
  // The limit on bytes in the job's directory on the node. The directory contains the run
  // directories of the job's ranks and anything next to them. Deleted files that are still open
  // count. Telemetry does not count. 0 means a quarter of the disk.
  int64_t run_dir_bytes = 0;
  // The limit on the number of files and directories in the job's directory. 0 means a quarter of
  // the number that the disk can hold.
  int64_t run_dir_files = 0;
  // The limit on the number of processes and threads of a rank. LimitsOnMachine reduces the limit
  // to at most half of the machine's maximum.
  int64_t processes = 32'768;
};

// The capacity of a disk. If the number of files is 0, the file system sets no limit.
struct DiskSize {
  int64_t bytes = 0;
  int64_t files = 0;
};

// Files are counted only up to this number. The limit of any rank is lower.
inline constexpr int64_t kMostFiles = 1'000'000;

// Returns the limits adjusted to a disk of this size, so that a rank is ended before it fills a
// small disk.
RankLimits LimitsOnDisk(RankLimits limits, const DiskSize& disk);

// Returns the limits adjusted to a machine that can have this many processes.
RankLimits LimitsOnMachine(RankLimits limits, int64_t processes);

// If a rank with this many processes and threads exceeds the limit, returns one sentence; otherwise
// an empty text.
std::string JudgeProcesses(const RankLimits& limits, int64_t processes);

// The sizes of the files of an attempt's ranks on this node, and of the job's directory. The sizes
// of streams only grow.
struct RankFileSizes {
  int64_t telemetry = 0;
  int64_t telemetry_stored = 0;  // Bytes stored by the controller.
  int64_t log = 0;
  int64_t run_dir = 0;
  int64_t run_dir_files = 0;
};

// The recent history of RankFileSizes.
class RankUsage {
 public:
  static constexpr Timestamp kWindowMs = 10'000;

  // Adds the current sizes to the history. `now` is the time of a clock that never goes back. If a
  // limit is exceeded, returns one sentence with the limit and the remedy; otherwise an empty text.
  // Rates are measured from the first call, so data written before a restart of the worker cannot
  // end a rank.
  std::string Judge(const RankLimits& limits, const RankFileSizes& sizes, Timestamp now);

 private:
  struct Sample {
    Timestamp time_ms = 0;
    int64_t telemetry = 0;
    int64_t log = 0;
  };
  // The first sample is the newest one that is at least kWindowMs old. If no sample is that old,
  // the first sample is the oldest one.
  std::deque<Sample> samples_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_RANK_LIMITS_H_
