// Measures the sizes of jobs' directories. Uses separate threads, because a program may create any
// number of files there.
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
  int64_t entries = 0;  // Files, directories and other things with an inode.
};

// The files that do not count towards the size of a directory: the files with this name, `level`
// levels below the directory.
struct LeftOut {
  std::string name;
  int level = 0;
};

// Returns the size of everything below the directory except the excluded files. Does not follow
// links, does not enter mounts, and stops after kMostEntries entries. A tree deeper than
// kMostLevels counts as kMostEntries entries, because no honest program needs such a tree. May be
// called on any thread.
DirectorySize SizeBelow(const GuardedPath& directory, const LeftOut& but);
inline constexpr int64_t kMostEntries = kMostFiles;
inline constexpr int kMostLevels = 128;

// A directory, and the marks (worker/process/rank_mark.h) of some processes. Deleted files that
// these processes still have open count towards the directory's size.
struct MeteredDirectory {
  GuardedPath path;
  std::set<std::string> marks;
};

// All functions must be called on the loop's thread.
class DirectoryMeter {
 public:
  DirectoryMeter(boost::asio::io_context& loop, LeftOut but);
  // Does not wait for running measurements, whose results are discarded.
  ~DirectoryMeter();

  // Measures each directory on its own thread, except directories that are being measured or were
  // measured recently. All measurements together use at most a tenth of one thread's time. A
  // directory that hangs, as on a failing disk, does not delay the others. Forgets the sizes of
  // directories that are not in `directories`.
  void Measure(const std::vector<MeteredDirectory>& directories);
  // Returns the size from the newest measurement; 0 before the first measurement.
  DirectorySize SizeOf(const GuardedPath& directory) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Measured {
    DirectorySize size;
    bool running = false;
    Clock::time_point due;
  };
  // Shared with the threads, and exists until the last thread has ended. `meter` is null after the
  // meter was destroyed.
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
