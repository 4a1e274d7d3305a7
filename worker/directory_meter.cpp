#include "worker/directory_meter.h"

#include <fts.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

namespace trainyard::worker {
namespace {

constexpr std::chrono::milliseconds kShortestPause(500);
constexpr int kRest = 9;  // Pauses are this many times as long as the measurement before.

// The unit of st_blocks.
constexpr int64_t kStatBlockBytes = 512;

}  // namespace

DirectorySize SizeBelow(const std::string& directory, const std::set<std::string>& but) {
  std::string root = directory;
  char* const roots[] = {root.data(), nullptr};
  FTS* const walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr);
  if (walk == nullptr) return {};
  DirectorySize size;
  errno = 0;
  while (const FTSENT* entry = fts_read(walk)) {
    // Seen a second time, after what is in it.
    if (entry->fts_info == FTS_DP || entry->fts_level == 0) continue;
    if (entry->fts_errno == ENAMETOOLONG) size.entries = kMostEntries;
    if (++size.entries >= kMostEntries) break;
    const bool is_file = entry->fts_info == FTS_F || entry->fts_info == FTS_DEFAULT;
    const bool is_left_out = entry->fts_level == 1 && but.contains(entry->fts_name);
    if (is_file && !is_left_out) size.bytes += entry->fts_statp->st_blocks * kStatBlockBytes;
  }
  // The walk itself has a longest path, too, at which it ends.
  if (errno == ENAMETOOLONG) size.entries = kMostEntries;
  fts_close(walk);
  return size;
}

DirectoryMeter::DirectoryMeter(boost::asio::io_context& loop, std::set<std::string> but)
    : loop_(loop),
      but_(std::move(but)),
      self_(std::make_shared<DirectoryMeter*>(this)),
      thread_(1) {}

DirectoryMeter::~DirectoryMeter() {
  self_.reset();
  thread_.join();
}

void DirectoryMeter::Measure(std::vector<std::string> directories) {
  if (running_ || directories.empty() || Clock::now() < due_) return;
  running_ = true;
  boost::asio::post(thread_, [this, weak = std::weak_ptr(self_), but = but_,
                              directories = std::move(directories)] {
    const Clock::time_point begin = Clock::now();
    std::map<std::string, DirectorySize> sizes;
    for (const std::string& directory : directories) sizes[directory] = SizeBelow(directory, but);
    const auto took = Clock::now() - begin;
    boost::asio::post(loop_, [this, weak, took, sizes = std::move(sizes)]() mutable {
      if (weak.expired()) return;
      sizes_ = std::move(sizes);
      running_ = false;
      due_ = Clock::now() + std::max<Clock::duration>(kShortestPause, kRest * took);
    });
  });
}

DirectorySize DirectoryMeter::SizeOf(const std::string& directory) const {
  const auto found = sizes_.find(directory);
  return found == sizes_.end() ? DirectorySize{} : found->second;
}

}  // namespace trainyard::worker
