// Measures the sizes of jobs' directories on separate threads: a program may leave any number of
// files there.
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
  int64_t bytes = 0;    // Disk usage of the files.
  int64_t entries = 0;  // Files, directories and anything else that uses an inode.
};

// Files with this name, `level` levels below a directory, are excluded from its size.
struct LeftOut {
  std::string name;
  int level = 0;
};

// Size of everything below the directory except the excluded files. Does not follow links or enter
// mounts, and stops after kMostEntries. Directories nested deeper than kMostLevels, which no honest
// program needs, count as kMostEntries. Any thread.
DirectorySize SizeBelow(const GuardedPath& directory, const LeftOut& but);
inline constexpr int64_t kMostEntries = kMostFiles;
inline constexpr int kMostLevels = 128;

// A directory, and the marks (worker/process/rank_mark.h) of processes whose deleted but still open
// files count towards it.
struct MeteredDirectory {
  GuardedPath path;
  std::set<std::string> marks;
};

// All functions are for the loop's thread.
class DirectoryMeter {
 public:
  DirectoryMeter(boost::asio::io_context& loop, LeftOut but);
  // Does not wait for running measurements; their results are discarded.
  ~DirectoryMeter();

  // Measures each directory on its own thread, unless it is being measured or was measured
  // recently: all measurements together may use a tenth of one thread's time. A hanging directory,
  // as on a failing disk, does not delay the others. Forgets the sizes of all other directories.
  void Measure(const std::vector<MeteredDirectory>& directories);
  // Size from the newest measurement; 0 before the first.
  DirectorySize SizeOf(const GuardedPath& directory) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Measured {
    DirectorySize size;
    bool running = false;
    Clock::time_point due;
  };
  // Lives as long as the last thread. `meter` is null after the meter is destroyed.
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
