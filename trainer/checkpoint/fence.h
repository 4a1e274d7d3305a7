// The fencing epoch of a checkpoint directory: only the newest attempt may publish.
//
// The file EPOCH holds the newest epoch. Publishing happens with the file locked (flock) and only
// if it does not name a newer attempt, so that a trainer that outlived its attempt cannot put its
// checkpoints among those of the next one.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_

#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Holds the lock of `directory`/EPOCH until destroyed.
class FenceLock {
 public:
  // Waits for the lock; makes directory and file when missing. Throws TrainerError kCannotWrite.
  explicit FenceLock(const std::string& directory);
  ~FenceLock();
  FenceLock(const FenceLock&) = delete;
  FenceLock& operator=(const FenceLock&) = delete;

  // The newest epoch; 0 when none was raised. Throws kBadData when the file is not one of ours.
  int64_t Epoch() const;
  // Makes `epoch` durable as the newest one.
  void SetEpoch(int64_t epoch);
  // Throws TrainerError kFenced when a newer attempt than `epoch` has begun.
  void CheckNotNewerThan(int64_t epoch) const;

 private:
  std::string path_;
  int file_ = -1;
};

// Raises the fence at the start of an attempt; any rank may, and again. Throws TrainerError kFenced
// when a newer attempt has begun.
void RaiseFence(const std::string& directory, int64_t epoch);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
