#include "trainer/checkpoint/part_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;

bool IsLocked(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Uses a shared lock. With exclusive locks, ranks that check at the same time would mistake each
  // other for the owner.
  return file.valid() && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

PartLock::PartLock(const std::string& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) {
  if (!file_.valid()) return;
  while (flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

PartWatch::PartWatch(std::string path, double absence_seconds)
    : path_(std::move(path)), absence_seconds_(absence_seconds), seen_(Clock::now()) {}

bool PartWatch::IsGone() {
  const Clock::time_point now = Clock::now();
  if (IsLocked(path_)) seen_ = now;
  return std::chrono::duration<double>(now - seen_).count() > absence_seconds_;
}

}  // namespace trainyard::trainer
