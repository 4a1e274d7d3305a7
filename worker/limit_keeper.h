// Ends ranks that write more than the node allows, before they take the disk from their neighbours.
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
  // The rank's own directory.
  GuardedPath run_dir;
};

// All functions are for the loop's thread.
class LimitKeeper {
 public:
  LimitKeeper(boost::asio::io_context& loop, RankLimits limits,
              std::function<RankPaths(const RankKey&)> paths_of);

  // Looks at what the ranks have written: two system calls a rank, and a measurement of directories
  // in the background. `end` is called with the reason for each running rank that exceeds a limit,
  // again with each call until the rank has ended.
  void Check(const std::vector<RankView>& ranks, const std::vector<StreamPosition>& streams,
             const DiskSize& disk, Timestamp now,
             const std::function<void(const RankKey&, const std::string& reason)>& end);

 private:
  RankFileSizes SizesOf(const RankKey& rank, const std::vector<StreamPosition>& streams) const;

  const RankLimits limits_;
  const std::function<RankPaths(const RankKey&)> paths_of_;
  std::map<RankKey, RankUsage> usage_;
  DirectoryMeter meter_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_LIMIT_KEEPER_H_
