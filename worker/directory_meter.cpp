#include "worker/directory_meter.h"

#include <fts.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace trainyard::worker {
namespace {

constexpr std::chrono::milliseconds kShortestPause(500);
constexpr int kRest = 9;  // Pauses are this many times as long as the measurement before.

// The unit of st_blocks.
constexpr int64_t kStatBlockBytes = 512;

}  // namespace

int64_t BytesBelow(const std::string& directory, const std::set<std::string>& but) {
  std::string root = directory;
  char* const roots[] = {root.data(), nullptr};
  FTS* const walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr);
  if (walk == nullptr) return 0;
  int64_t bytes = 0;
  int entries = 0;
  while (const FTSENT* entry = fts_read(walk)) {
    if (++entries > kMostEntries) break;
    const bool is_file = entry->fts_info == FTS_F || entry->fts_info == FTS_DEFAULT;
    const bool is_left_out = entry->fts_level == 1 && but.contains(entry->fts_name);
    if (is_file && !is_left_out) bytes += entry->fts_statp->st_blocks * kStatBlockBytes;
  }
  fts_close(walk);
  return bytes;
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
    std::map<std::string, int64_t> bytes;
    for (const std::string& directory : directories) bytes[directory] = BytesBelow(directory, but);
    const auto took = Clock::now() - begin;
    boost::asio::post(loop_, [this, weak, took, bytes = std::move(bytes)]() mutable {
      if (weak.expired()) return;
      bytes_ = std::move(bytes);
      running_ = false;
      due_ = Clock::now() + std::max<Clock::duration>(kShortestPause, kRest * took);
    });
  });
}

int64_t DirectoryMeter::BytesOf(const std::string& directory) const {
  const auto found = bytes_.find(directory);
  return found == bytes_.end() ? 0 : found->second;
}

}  // namespace trainyard::worker
