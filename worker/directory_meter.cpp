#include "worker/directory_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/detached_thread.h"
#include "worker/process/held_files.h"
#include "worker/process/rank_mark.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::milliseconds kShortestPause(500);
constexpr int kRest = 9;  // A pause lasts kRest times as long as the work before it.

// Adds up the sizes of everything below a directory. Reads only file attributes, which the kernel
// has normally cached. Does not enter other file systems, because these may hang.
class SizeWalk {
 public:
  explicit SizeWalk(const LeftOut& but) : but_(but) {}

  DirectorySize Measure(UniqueFd root) {
    if (Look(root.get(), root_)) Enter(std::move(root), 0);
    return {size_.bytes, std::min(size_.entries, kMostEntries)};
  }

 private:
  void Enter(UniqueFd directory, int level) {
    UniqueFd fd(openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    directory.Reset();
    const std::unique_ptr<DIR, int (*)(DIR*)> names(fdopendir(fd.get()), closedir);
    if (names == nullptr) return;
    fd.Release();
    while (const dirent* entry = readdir(names.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++size_.entries >= kMostEntries) return;
      Count(dirfd(names.get()), name, level);
    }
  }

  static bool Look(int fd, struct statx& found) {
    const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    return statx(fd, "", flags, STATX_TYPE | STATX_BLOCKS, &found) == 0;
  }

  void Count(int directory, const std::string& name, int level) {
    UniqueFd fd(openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct statx found {};
    if (!fd.valid() || !Look(fd.get(), found)) return;
    const bool is_here =
        found.stx_dev_major == root_.stx_dev_major && found.stx_dev_minor == root_.stx_dev_minor;
    if (!is_here) return;
    if (S_ISREG(found.stx_mode) && !(level == but_.level && name == but_.name)) {
      size_.bytes += static_cast<int64_t>(found.stx_blocks) * kStatBlockBytes;
    }
    if (!S_ISDIR(found.stx_mode)) return;
    if (level + 1 < kMostLevels) return Enter(std::move(fd), level + 1);
    size_.entries = kMostEntries;
  }

  const LeftOut& but_;
  struct statx root_ {};
  DirectorySize size_;
};

// Returns the disk usage of deleted files that processes with these marks still have open. The
// files were created below the directory, but a walk of the directory does not find them.
int64_t HeldBytesOf(const std::set<std::string>& marks, const GuardedPath& directory) {
  const absl::StatusOr<UniqueFd> root = OpenGuardedDirectory(directory);
  if (marks.empty() || !root.ok()) return 0;
  std::error_code error;
  const auto path =
      std::filesystem::read_symlink(absl::StrCat("/proc/self/fd/", root->get()), error);
  if (error) return 0;
  std::vector<pid_t> processes;
  for (const MarkedProcess& process : FindMarked()) {
    if (!process.is_shim() && marks.contains(process.mark)) processes.push_back(process.stat.pid);
  }
  return HeldBytes(processes, path.string());
}

}  // namespace

DirectorySize SizeBelow(const GuardedPath& directory, const LeftOut& but) {
  absl::StatusOr<UniqueFd> root = OpenGuardedDirectory(directory);
  if (!root.ok()) return {};
  return SizeWalk(but).Measure(*std::move(root));
}

DirectoryMeter::DirectoryMeter(boost::asio::io_context& loop, LeftOut but)
    : loop_(loop), but_(std::move(but)), link_(std::make_shared<Link>()) {
  link_->meter = this;
}

DirectoryMeter::~DirectoryMeter() {
  const std::lock_guard lock(link_->mutex);
  link_->meter = nullptr;
}

void DirectoryMeter::Measure(const std::vector<MeteredDirectory>& directories) {
  std::set<std::string> paths;
  for (const MeteredDirectory& directory : directories) {
    paths.insert(directory.path.text());
    const Measured& measured = measured_[directory.path.text()];
    if (!measured.running && Clock::now() >= measured.due) Begin(directory);
  }
  std::erase_if(measured_, [&](const auto& entry) { return !paths.contains(entry.first); });
}

void DirectoryMeter::Begin(const MeteredDirectory& directory) {
  const absl::Status started =
      RunDetached("measure " + directory.path.text(), [link = link_, but = but_, directory] {
        const Clock::time_point begin = Clock::now();
        DirectorySize size = SizeBelow(directory.path, but);
        size.bytes += HeldBytesOf(directory.marks, directory.path);
        const auto took = Clock::now() - begin;
        // Hold the lock until post returns. The meter's destructor waits for the lock, so the meter
        // still exists. The loop outlives the meter.
        const std::lock_guard lock(link->mutex);
        if (link->meter == nullptr) return;
        boost::asio::post(link->meter->loop_, [link, path = directory.path.text(), size, took] {
          if (link->meter != nullptr) link->meter->Finish(path, size, took);
        });
      });
  Measured& measured = measured_[directory.path.text()];
  measured.running = started.ok();
  measured.due = Clock::now() + kShortestPause;
}

void DirectoryMeter::Finish(const std::string& path, const DirectorySize& size,
                            Clock::duration took) {
  const auto found = measured_.find(path);
  if (found == measured_.end()) return;
  const auto rest = kRest * took * static_cast<int64_t>(measured_.size());
  found->second = {size, false, Clock::now() + std::max<Clock::duration>(kShortestPause, rest)};
}

DirectorySize DirectoryMeter::SizeOf(const GuardedPath& directory) const {
  const auto found = measured_.find(directory.text());
  return found == measured_.end() ? DirectorySize{} : found->second.size;
}

}  // namespace trainyard::worker
