// Ends jobs that write more than the node allows, before they fill the disk for their neighbours.
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

// Paths of a rank's files.
struct RankPaths {
  GuardedPath output;
  GuardedPath telemetry;
  // Contains the directories of all ranks and attempts of the job.
  GuardedPath job_dir;
  // Mark of the rank's processes (rank_marks.h).
  std::string mark;
};

// All functions are for the loop's thread.
class LimitKeeper {
 public:
  LimitKeeper(boost::asio::io_context& loop, RankLimits limits,
              std::function<RankPaths(const RankKey&)> paths_of);

  // Checks the sizes written by the jobs here: a few system calls per rank, and a measurement of
  // directories in the background. The ranks of an attempt count together. Calls `end` with the
  // reason for each running rank of an attempt that exceeds a limit, on each call until the rank
  // has ended.
  void Check(const std::vector<RankView>& ranks, const std::vector<StreamPosition>& streams,
             const DiskSize& disk, Timestamp now,
             const std::function<void(const RankKey&, const std::string& reason)>& end);

 private:
  // The ranks of an attempt that may have files, and the running ones among them.
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
