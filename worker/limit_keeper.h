// Ends jobs that write more than the node allows, before they take the disk from their neighbours.
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

// Paths of what a rank writes.
struct RankPaths {
  GuardedPath output;
  GuardedPath telemetry;
  // Holds the directories of all ranks and attempts of the job.
  GuardedPath job_dir;
  // Of the rank's processes (rank_marks.h).
  std::string mark;
};

// All functions are for the loop's thread.
class LimitKeeper {
 public:
  LimitKeeper(boost::asio::io_context& loop, RankLimits limits,
              std::function<RankPaths(const RankKey&)> paths_of);

  // Looks at what the jobs have written here: some system calls a rank, and a measurement of
  // directories in the background. The ranks of an attempt count together. `end` is called with the
  // reason for each running rank of an attempt that exceeds a limit, again with each call until the
  // rank has ended.
  void Check(const std::vector<RankView>& ranks, const std::vector<StreamPosition>& streams,
             const DiskSize& disk, Timestamp now,
             const std::function<void(const RankKey&, const std::string& reason)>& end);

 private:
  // The ranks of an attempt that may have files, and those of them that run.
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
