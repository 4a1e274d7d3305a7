// Measures the sizes of jobs' directories on threads of their own: a program may leave any number
// of files there.
#ifndef TRAINYARD_WORKER_DIRECTORY_METER_H_
#define TRAINYARD_WORKER_DIRECTORY_METER_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "proto/support/guarded_path.h"
#include "worker/core/rank_limits.h"

namespace trainyard::worker {

struct DirectorySize {
  int64_t bytes = 0;    // That its files take on its disk.
  int64_t entries = 0;  // Files, directories and whatever else takes an inode.
};

// Files of a name, so many levels below a directory, that its size does not include.
struct LeftOut {
  std::string name;
  int level = 0;
};

// Size of all below the directory, without the files that are left out. Does not follow links or
// look at what is mounted there, and stops after kMostEntries. Where directories lie deeper than
// kMostLevels it has kMostEntries: no honest program needs them. Any thread.
DirectorySize SizeBelow(const GuardedPath& directory, const LeftOut& but);
inline constexpr int64_t kMostEntries = kMostFiles;
inline constexpr int kMostLevels = 128;

// A directory, and the marks (worker/process/rank_mark.h) of the processes whose files on its disk
// count to it when they have no name any more.
struct MeteredDirectory {
  GuardedPath path;
  std::set<std::string> marks;
};

// All functions are for the loop's thread.
class DirectoryMeter {
 public:
  DirectoryMeter(boost::asio::io_context& loop, LeftOut but);
  // Does not wait for measurements under way; makes no call afterwards.
  ~DirectoryMeter();

  // Measures each of the directories on a thread of its own, unless it is being measured or was so
  // just now: together they may take a tenth of the time of one thread. One that hangs, as on a
  // failing disk, keeps no other from being measured. Forgets the sizes of all other directories.
  void Measure(const std::vector<MeteredDirectory>& directories);
  // Size by the newest measurement; 0 before the first.
  DirectorySize SizeOf(const GuardedPath& directory) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Measured {
    DirectorySize size;
    bool running = false;
    Clock::time_point due;
  };
  // Lives as long as the last thread. `meter` is null once it is gone.
  struct Link {
    std::mutex mutex;
    DirectoryMeter* meter = nullptr;
  };

  void Begin(const MeteredDirectory& directory);
  void Finish(const std::string& path, const DirectorySize& size, Clock::duration took);

  boost::asio::io_context& loop_;
  const LeftOut but_;
  std::shared_ptr<Link> link_;
  std::map<std::string, Measured> measured_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_DIRECTORY_METER_H_
