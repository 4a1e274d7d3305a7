// Ends jobs that write more than the node allows, before they fill the disk that all jobs
// share.
#ifndef TRAINYARD_WORKER_LIMIT_KEEPER_H_
#define TRAINYARD_WORKER_LIMIT_KEEPER_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "proto/support/guarded_path.h"
#include "worker/core/attempts.h"
#include "worker/core/rank_limits.h"
#include "worker/core/uplink.h"
#include "worker/directory_meter.h"

namespace trainyard::worker {

// The paths of a rank's files.
struct RankPaths {
  GuardedPath output;
  GuardedPath telemetry;
  // Contains the directories of all attempts of the job and of their ranks.
  GuardedPath job_dir;
  // The mark that identifies the rank's processes (rank_marks.h).
  std::string mark;
};

// All functions must be called on the loop's thread.
class LimitKeeper {
 public:
  LimitKeeper(boost::asio::io_context& loop, RankLimits limits,
              std::function<RankPaths(const RankKey&)> paths_of);

  // Checks how much the jobs on this node have written. Makes a few system calls per rank, and
  // measures directories in the background. The limits apply to all ranks of an attempt together.
  // If an attempt exceeds a limit, calls `end` with the reason, once for each running rank of the
  // attempt. Later calls of Check repeat this until the ranks have ended.
  void Check(const std::vector<RankView>& ranks, const std::vector<StreamPosition>& streams,
             const DiskSize& disk, Timestamp now,
             const std::function<void(const RankKey&, const std::string& reason)>& end);

 private:
  // `all`: the ranks of an attempt that may have files. `running`: the running ranks among them.
  struct Members {
    std::vector<RankKey> all;
    std::vector<RankKey> running;
  };
  RankFileSizes SizesOf(const std::vector<RankKey>& ranks,
                        const std::vector<StreamPosition>& streams) const;

  const RankLimits limits_;
  const std::function<RankPaths(const RankKey&)> paths_of_;
  std::map<AttemptKey, RankUsage> usage_;
  DirectoryMeter meter_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_LIMIT_KEEPER_H_
