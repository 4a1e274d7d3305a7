// The fence of a checkpoint directory: only the newest attempt may publish.
//
// An attempt claims the directory by the exclusive create of ATTEMPT.<job>.<attempt>, and then
// renames what older attempts are building. Both are atomic on one file server for all its clients
// (POSIX, NFS 3 and later), so a trainer that outlived its attempt, or its job, on whatever node,
// either published before the claim or cannot publish any more: it finds the claim, or its
// directory gone. ATTEMPT holds the same number for people and earlier versions. A gang that has
// lost a rank and connects anew within its attempt claims ATTEMPT.<job>.<attempt>.<generation>: the
// rank may live on behind a broken network.
//
// The lock (flock) of ATTEMPT only spares processes of one node that wait. Nothing depends on it:
// it does not hold across the nodes of many network file systems, and others refuse it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_

#include <sys/file.h>

#include <cstdint>
#include <string>

#include "proto/contract/attempt_key.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Locks an open file as flock does. Tests replace it by one that excludes nobody.
using LockFile = int (*)(int fd, int operation);

// Holds the lock of `directory`/ATTEMPT, where the file system has one, until destroyed.
class FenceLock {
 public:
  // Waits for the lock; makes directory and file when missing. Throws TrainerError kCannotWrite.
  explicit FenceLock(const std::string& directory, LockFile lock = flock);
  ~FenceLock();
  FenceLock(const FenceLock&) = delete;
  FenceLock& operator=(const FenceLock&) = delete;

  // The newest attempt by all claims and by the file; {0, 0} when no fence was raised. A file
  // without a job, as earlier versions wrote it, belongs to job 0. Throws kBadData when the file is
  // malformed, kCannotWrite when the directory cannot be read.
  AttemptKey Newest() const;
  // Claims the directory for `attempt`, durably. Another process may claim it at the same time: the
  // newest of both is what Newest returns from then on.
  void SetNewest(const AttemptKey& attempt);
  // Throws TrainerError kFenced when a newer attempt than `attempt` has begun.
  void CheckNotNewerThan(const AttemptKey& attempt) const;

 private:
  AttemptKey NewestInFile() const;
  AttemptKey NewestClaim() const;
  // Names of the file in an error message that advises to remove it.
  std::string NamesToRemove() const;

  std::string directory_;
  std::string path_;
  std::string former_path_;  // directory/EPOCH: earlier versions' name of the same file.
  int file_ = -1;
};

// Throws TrainerError kBadConfig when the directory is claimed by another job that is in
// `live_jobs` ("3,17"). The controller compares paths; a claim lies in the directory itself, so it
// shows also under another name, as through a symbolic link. To be called before RaiseFence, which
// would fence that job.
void CheckOwnerHasEnded(const std::string& directory, const AttemptKey& attempt,
                        const std::string& live_jobs);

// Raises the fence at the start of an attempt: from its return on no older attempt publishes. Any
// rank may call it, and more than once. Throws TrainerError kFenced when a newer attempt has begun.
void RaiseFence(const std::string& directory, const AttemptKey& attempt, LockFile lock = flock);

// A directory as the gang has agreed on it. Each process has one.
struct ClaimedDirectory {
  std::string nonce;    // In the claim of the attempt; the same on every rank.
  uint64_t device = 0;  // Of the directory, as this process saw it then.
  uint64_t inode = 0;
};

// The directory is not, or no longer, the one that the gang has claimed.
class UnsharedDirectory : public TrainerError {
 public:
  explicit UnsharedDirectory(const std::string& message)
      : TrainerError(ExitCode::kCannotWrite, message) {}
};

// Nonce of a claim that could not be signed, as on a full disk: its presence alone must do.
inline constexpr char kUnsigned[] = "00000000000000000000000000000000";

// Writes a new nonce into the claim of the attempt, after RaiseFence: whoever reads it sees the
// same directory. Returns the nonce, or kUnsigned.
std::string SignClaim(const std::string& directory, const AttemptKey& attempt);

// Difference of the attempt's claim in `directory` from one with this nonce, such as "there is
// no ATTEMPT.9.3"; empty when it has the nonce.
std::string ClaimDifference(const std::string& directory, const AttemptKey& attempt,
                            const std::string& nonce);

// The directory at the path now, for CheckStillClaimed.
ClaimedDirectory ClaimedDirectoryAt(const std::string& directory, const std::string& nonce);

// Throws UnsharedDirectory when another directory than the claimed one is at the path, as after an
// unmount, and TrainerError kFenced when a newer attempt has claimed it. A directory whose files
// were all removed is still the same one.
void CheckStillClaimed(const std::string& directory, const AttemptKey& attempt,
                       const ClaimedDirectory& claimed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
