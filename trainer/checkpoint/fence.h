// The fence of a checkpoint directory: only the newest attempt may publish.
//
// The file ATTEMPT names the newest attempt and its job. Publishing happens with the file locked
// (flock) and only if it does not name a newer attempt, so that a trainer that outlived its
// attempt, or its job, cannot publish among the checkpoints of the next attempt or job.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_

#include <string>

#include "proto/contract/attempt_key.h"

namespace trainyard::trainer {

// Holds the lock of `directory`/ATTEMPT until destroyed.
class FenceLock {
 public:
  // Waits for the lock; makes directory and file when missing. Throws TrainerError kCannotWrite.
  explicit FenceLock(const std::string& directory);
  ~FenceLock();
  FenceLock(const FenceLock&) = delete;
  FenceLock& operator=(const FenceLock&) = delete;

  // The newest attempt; {0, 0} when no fence was raised. A file without a job, as earlier versions
  // wrote it, belongs to job 0. Throws kBadData when the file is malformed.
  AttemptKey Newest() const;
  // Makes `attempt` durable as the newest one.
  void SetNewest(const AttemptKey& attempt);
  // Throws TrainerError kFenced when a newer attempt than `attempt` has begun.
  void CheckNotNewerThan(const AttemptKey& attempt) const;

 private:
  // Names of the file in an error message that advises to remove it.
  std::string NamesToRemove() const;

  std::string path_;
  std::string former_path_;  // directory/EPOCH: earlier versions' name of the same file.
  int file_ = -1;
};

// Raises the fence at the start of an attempt. Any rank may call it, and more than once. Throws
// TrainerError kFenced when a newer attempt has begun.
void RaiseFence(const std::string& directory, const AttemptKey& attempt);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
