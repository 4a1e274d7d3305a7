// Detects whether a rank is still working on its part of a save.
//
// A rank holds the lock (flock) of its file from the start of a save until its work on the save
// ends. The system releases the lock when the process ends. A rank that has neither the lock nor a
// complete part must therefore have exited, and the other ranks need not wait for it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_

#include <chrono>
#include <string>

#include "proto/files/unique_fd.h"

namespace trainyard::trainer {

class PartLock {
 public:
  // Creates the file if it does not exist, and waits for its lock. Does not throw if that fails:
  // without the lock, other ranks may stop waiting too early, but at worst only this save is lost.
  explicit PartLock(const std::string& path);

 private:
  UniqueFd file_;
};

// Polls the lock of one rank's file.
class PartWatch {
 public:
  PartWatch(std::string path, double absence_seconds);

  // True if no process has held the file's PartLock for `absence_seconds`. A shorter absence may
  // only mean that the rank has not begun the save yet.
  bool IsGone();

 private:
  const std::string path_;
  const double absence_seconds_;
  std::chrono::steady_clock::time_point seen_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_
