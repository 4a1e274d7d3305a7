// Detects whether a rank is still working on its part of a save.
//
// A rank holds the lock (flock) of its file from the start of a save until its work on it ends. The
// system releases the lock whenever the process ends. A rank with neither the lock nor a complete
// part is therefore gone, and the others need not wait for it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_

#include <chrono>
#include <string>

#include "proto/files/unique_fd.h"

namespace trainyard::trainer {

class PartLock {
 public:
  // Creates the file if missing and waits for its lock. Never throws: without the lock other ranks
  // may stop waiting too early, which costs no more than the save.
  explicit PartLock(const std::string& path);

 private:
  UniqueFd file_;
};

// Watches the rank of one file, by polling.
class PartWatch {
 public:
  PartWatch(std::string path, double absence_seconds);

  // True if no process has held the file's PartLock for `absence_seconds`. A shorter absence may be
  // a rank that has not begun yet.
  bool IsGone();

 private:
  const std::string path_;
  const double absence_seconds_;
  std::chrono::steady_clock::time_point seen_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_
