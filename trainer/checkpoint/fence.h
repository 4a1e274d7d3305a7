// The fence of a checkpoint directory: only the newest attempt may publish.
//
// An attempt claims the directory by exclusively creating ATTEMPT.<job>.<attempt>, and then renames
// the unfinished directories of older attempts. Both operations are atomic on one file server for
// all its clients (POSIX, NFS 3 and later). A trainer that outlived its attempt or job, on any
// node, has therefore either published before the claim or can no longer publish: it finds the
// claim, or its directory is gone. ATTEMPT holds the same number for users and earlier versions. A
// gang that lost a rank and reconnects within its attempt claims
// ATTEMPT.<job>.<attempt>.<generation>, because the lost rank may still be running behind a broken
// network.
//
// The lock (flock) of ATTEMPT only reduces contention between processes of one node. Correctness
// does not depend on it: on many network file systems it does not work across nodes, and others do
// not support it.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_

#include <sys/file.h>

#include <cstdint>
#include <string>

#include "trainer/checkpoint/writer_key.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Locks an open file like flock. Tests replace it by one that excludes nobody.
using LockFile = int (*)(int fd, int operation);

// Holds the lock of `directory`/ATTEMPT during its lifetime, if the file system supports locks.
class FenceLock {
 public:
  // Waits for the lock. Creates directory and file if missing. Throws TrainerError kCannotWrite.
  explicit FenceLock(const std::string& directory, LockFile lock = flock);
  ~FenceLock();
  FenceLock(const FenceLock&) = delete;
  FenceLock& operator=(const FenceLock&) = delete;

  // The newest writer according to all claims and the file; job 0 if no fence was raised. A file
  // without a job, from earlier versions, belongs to job 0. Throws kBadData if the file is
  // malformed, kCannotWrite if the directory cannot be read.
  WriterKey Newest() const;
  // Durably claims the directory for `writer`. If another process claims it concurrently, Newest
  // returns the newer of the two from then on.
  void SetNewest(const WriterKey& writer);
  // Throws TrainerError kFenced if a writer newer than `writer` has begun.
  void CheckNotNewerThan(const WriterKey& writer) const;

 private:
  WriterKey NewestInFile() const;
  WriterKey NewestClaim() const;
  // Names to remove, for an error message.
  std::string NamesToRemove() const;

  std::string directory_;
  std::string path_;
  std::string former_path_;  // directory/EPOCH, the file's name in earlier versions.
  int file_ = -1;
};

// Throws TrainerError kBadConfig if the directory is claimed by another job in `live_jobs`
// ("3,17"). The controller compares only paths; a claim is inside the directory, so it is found
// under any name, such as a symbolic link. Call before RaiseFence, which would fence that job.
void CheckOwnerHasEnded(const std::string& directory, const WriterKey& writer,
                        const std::string& live_jobs);

// Raises the fence at the start of an attempt: after its return no older attempt can publish. Any
// rank may call it, repeatedly. Throws TrainerError kFenced if a newer attempt has begun.
void RaiseFence(const std::string& directory, const WriterKey& writer, LockFile lock = flock);

// The directory the gang agreed on, as seen by one process.
struct ClaimedDirectory {
  std::string nonce;    // From the attempt's claim; the same on every rank.
  uint64_t device = 0;  // Device of the directory when it was claimed.
  uint64_t inode = 0;
};

// The directory is not, or no longer, the one claimed by the gang.
class UnsharedDirectory : public TrainerError {
 public:
  explicit UnsharedDirectory(const std::string& message)
      : TrainerError(ExitCode::kCannotWrite, message) {}
};

// Nonce of a claim that could not be signed, for example on a full disk. Only the claim's existence
// is then checked.
inline constexpr char kUnsigned[] = "00000000000000000000000000000000";

// Writes a new nonce into the attempt's claim, after RaiseFence. A process that reads this nonce
// sees the same directory. Returns the nonce, or kUnsigned.
std::string SignClaim(const std::string& directory, const WriterKey& writer);

// Difference between the attempt's claim in `directory` and a claim with this nonce, such as "there
// is no ATTEMPT.9.3"; "" if it has the nonce.
std::string ClaimDifference(const std::string& directory, const WriterKey& writer,
                            const std::string& nonce);

// The directory now at the path, for CheckStillClaimed.
ClaimedDirectory ClaimedDirectoryAt(const std::string& directory, const std::string& nonce);

// Throws UnsharedDirectory if the path no longer leads to the claimed directory, for example after
// an unmount, and TrainerError kFenced if a newer attempt has claimed it. A directory whose files
// were all removed still counts as the same.
void CheckStillClaimed(const std::string& directory, const WriterKey& writer,
                       const ClaimedDirectory& claimed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
