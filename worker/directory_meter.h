// Measures the sizes of ranks' directories on a thread of its own: a program may leave any number
// of files there.
#ifndef TRAINYARD_WORKER_DIRECTORY_METER_H_
#define TRAINYARD_WORKER_DIRECTORY_METER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "worker/core/rank_limits.h"

namespace trainyard::worker {

struct DirectorySize {
  int64_t bytes = 0;    // That its files take on its disk.
  int64_t entries = 0;  // Files, directories and whatever else takes an inode.
};

// What is below the directory; files of these names at its top are not counted. Does not follow
// links or leave the directory's disk, and stops after kMostEntries. Where directories lie so deep
// that no path reaches them, it has kMostEntries: no honest program needs them, and what they hold
// cannot be measured. Any thread.
DirectorySize SizeBelow(const std::string& directory, const std::set<std::string>& but);
inline constexpr int64_t kMostEntries = kMostFiles;

// All functions are for the loop's thread.
class DirectoryMeter {
 public:
  DirectoryMeter(boost::asio::io_context& loop, std::set<std::string> but);
  // Waits for the measurement under way.
  ~DirectoryMeter();

  // Measures the directories, unless a measurement runs or the last one ended just now: it may take
  // a tenth of the time of one thread.
  void Measure(std::vector<std::string> directories);
  // Size by the newest measurement; 0 before the first.
  DirectorySize SizeOf(const std::string& directory) const;

 private:
  using Clock = std::chrono::steady_clock;

  boost::asio::io_context& loop_;
  const std::set<std::string> but_;
  std::map<std::string, DirectorySize> sizes_;
  bool running_ = false;
  Clock::time_point due_;
  // Expires with this object: results that arrive later are ignored.
  std::shared_ptr<DirectoryMeter*> self_;
  boost::asio::thread_pool thread_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DIRECTORY_METER_H_
