// Tells whether a rank is still at work on its part of a save.
//
// A rank holds the lock of its file (flock) from the beginning of a save to the end of its work on
// it. The system releases the lock when the process ends, however it ends, so that a rank without
// the lock and without a complete part has gone away, and nobody needs to wait for it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_

#include <chrono>
#include <string>

#include "proto/contract/unique_fd.h"

namespace trainyard::trainer {

class PartLock {
 public:
  // Makes the file when missing, and waits for its lock. Never throws: without the lock other ranks
  // may give up too early, which costs no more than the save.
  explicit PartLock(const std::string& path);

 private:
  UniqueFd file_;
};

// Watches the rank of one file, for others to ask again and again.
class PartWatch {
 public:
  PartWatch(std::string path, double absence_seconds);

  // True when no process has held the PartLock of the file for `absence_seconds`: shorter absences
  // are those of a rank that has not begun yet.
  bool IsGone();

 private:
  const std::string path_;
  const double absence_seconds_;
  std::chrono::steady_clock::time_point seen_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PART_LOCK_H_
