#include "trainer/checkpoint/fence.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Fixed width, so that raising overwrites the old number in place with one write: a rename would
// leave others holding the lock of a file that is no longer there.
constexpr int kEpochBytes = 20;

[[noreturn]] void CannotUse(const std::string& what, const std::string& path) {
  throw TrainerError(ExitCode::kCannotWrite,
                     "cannot " + what + " " + path + ": " + std::strerror(errno));
}

}  // namespace

FenceLock::FenceLock(const std::string& directory) : path_(directory + "/EPOCH") {
  MakeDirectories(directory);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) CannotUse("open", path_);
  while (flock(file_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    close(file_);
    CannotUse("lock", path_);
  }
}

FenceLock::~FenceLock() { close(file_); }

int64_t FenceLock::Epoch() const {
  char text[kEpochBytes + 2] = {};
  const ssize_t bytes = pread(file_, text, sizeof(text) - 1, 0);
  if (bytes < 0) CannotUse("read", path_);
  if (bytes == 0) return 0;
  int64_t epoch = -1;
  const auto [end, error] = std::from_chars(text, text + bytes, epoch);
  const bool complete = error == std::errc() && epoch >= 0 && (*end == '\n' || *end == '\0');
  if (!complete) {
    throw TrainerError(ExitCode::kBadData,
                       path_ +
                           " does not hold an epoch; write the number of the job's newest "
                           "attempt into it, or remove it when nothing trains here");
  }
  return epoch;
}

void FenceLock::SetEpoch(int64_t epoch) {
  char text[kEpochBytes + 2];
  std::snprintf(text, sizeof(text), "%0*lld\n", kEpochBytes, static_cast<long long>(epoch));
  if (pwrite(file_, text, kEpochBytes + 1, 0) != kEpochBytes + 1 || fsync(file_) != 0) {
    CannotUse("write", path_);
  }
}

void FenceLock::CheckNotNewerThan(int64_t epoch) const {
  const int64_t newest = Epoch();
  if (newest <= epoch) return;
  throw TrainerError(ExitCode::kFenced, "attempt " + std::to_string(epoch) + " is over: attempt " +
                                            std::to_string(newest) + " has begun (" + path_ + ")");
}

void RaiseFence(const std::string& directory, int64_t epoch) {
  FenceLock lock(directory);
  lock.CheckNotNewerThan(epoch);
  if (lock.Epoch() == epoch) return;
  lock.SetEpoch(epoch);
  SyncDirectory(directory);
}

}  // namespace trainyard::trainer
