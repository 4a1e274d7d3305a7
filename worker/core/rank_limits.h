// Limits of what the ranks of a job may write on their node, together, and the judgement on a job
// that exceeds one. Pure.
#ifndef TRAINYARD_WORKER_CORE_RANK_LIMITS_H_
#define TRAINYARD_WORKER_CORE_RANK_LIMITS_H_

#include <cstdint>
#include <deque>
#include <string>

#include "proto/support/clock.h"

namespace trainyard::worker {

// As the worker's flags give them; 0 for none.
struct RankLimits {
  // Bytes of telemetry that a job may have written and the controller not stored yet. Telemetry is
  // not dropped, so it must end somewhere.
  int64_t telemetry_bytes = int64_t{256} << 20;
  // Bytes a second of telemetry and of output, on average over RankUsage::kWindowMs.
  int64_t telemetry_rate = int64_t{8} << 20;
  int64_t log_rate = int64_t{64} << 20;
  // Bytes in the directories of a job's ranks, and beside them, but for their telemetry; also of
  // files that were removed there and are still open. 0: a quarter of the disk.
  int64_t run_dir_bytes = 0;
  // Files and directories there. 0: a quarter of those that the disk can hold.
  int64_t run_dir_files = 0;
  // Processes and threads of a rank, at most half of those that the machine can hold.
  int64_t processes = 32'768;
};

// Capacity of a disk. 0 files: the file system sets no limit.
struct DiskSize {
  int64_t bytes = 0;
  int64_t files = 0;
};

// A rank may never have as many: no more are counted.
inline constexpr int64_t kMostFiles = 1'000'000;

// The limits on a disk of this size: a rank must not fill a small disk before it is ended.
RankLimits LimitsOnDisk(RankLimits limits, const DiskSize& disk);

// The limits on a machine that can hold so many processes.
RankLimits LimitsOnMachine(RankLimits limits, int64_t processes);

// One sentence about a rank with so many processes and threads; empty within the limit.
std::string JudgeProcesses(const RankLimits& limits, int64_t processes);

// Sizes of the files of an attempt's ranks on the node, and of the job's directory. A size of a
// stream only grows.
struct RankFileSizes {
  int64_t telemetry = 0;
  int64_t telemetry_stored = 0;  // By the controller.
  int64_t log = 0;
  int64_t run_dir = 0;
  int64_t run_dir_files = 0;
};

// These sizes over the newest time.
class RankUsage {
 public:
  static constexpr Timestamp kWindowMs = 10'000;

  // Takes in the sizes of now, by a clock that never goes back. Returns one sentence with the limit
  // that is exceeded and what helps; empty while none is. The first sizes are where it begins to
  // count, so that a restart of the worker ends no rank.
  std::string Judge(const RankLimits& limits, const RankFileSizes& sizes, Timestamp now);

 private:
  struct Sample {
    Timestamp time_ms = 0;
    int64_t telemetry = 0;
    int64_t log = 0;
  };
  // The first one is the newest that is at least kWindowMs old, or the first of all.
  std::deque<Sample> samples_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_RANK_LIMITS_H_
