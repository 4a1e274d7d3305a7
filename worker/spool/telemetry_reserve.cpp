#include "worker/spool/telemetry_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <set>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"
#include "worker/spool/attempt_folders.h"

namespace trainyard::worker {
namespace {

bool Reserve(int fd, int64_t size) {
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, size, kTelemetryReserve) == 0;
}

}  // namespace

void ReserveFirstTelemetry(const GuardedPath& run_dir) {
  const absl::StatusOr<UniqueFd> directory = OpenGuardedDirectory(run_dir);
  if (!directory.ok()) return;
  // O_NONBLOCK is needed because a job may have put something in place of the file on which open
  // would block.
  const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const UniqueFd file(openat(directory->get(), kTelemetryFile, flags, 0600));
  struct stat info {};
  if (!file.valid() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  (void)Reserve(file.get(), info.st_size);
}

void TelemetryReserve::Extend(const std::vector<GuardedPath>& files) {
  std::set<std::string> paths;
  for (const GuardedPath& path : files) {
    paths.insert(path.text());
    const std::optional<struct stat> info = StatGuardedFile(path);
    if (!info.has_value()) continue;
    int64_t& until = reserved_until_[path.text()];
    if (until - info->st_size >= kTelemetryReserve / 2) continue;
    const absl::StatusOr<UniqueFd> file = OpenGuarded(path, O_WRONLY);
    if (file.ok() && Reserve(file->get(), info->st_size)) until = info->st_size + kTelemetryReserve;
  }
  std::erase_if(reserved_until_, [&](const auto& entry) { return !paths.contains(entry.first); });
}

}  // namespace trainyard::worker
