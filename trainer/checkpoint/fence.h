// The fence of a checkpoint directory, which permits only the newest attempt to publish.
//
// An attempt claims the directory by exclusively creating the file ATTEMPT.<job>.<attempt>. The
// attempt then renames the unfinished directories of older attempts. On one file server, both
// operations are atomic for all clients (POSIX, NFS 3 and later).
//
// A trainer whose attempt or job is over may still be running on some node. After the claim this
// trainer can no longer publish: it finds the claim, or its unfinished directory is gone.
//
// The file ATTEMPT contains the number of the newest attempt, for users and for earlier versions.
// If a gang loses a rank and reconnects within its attempt, the gang claims
// ATTEMPT.<job>.<attempt>.<generation>, because the lost rank may still be running behind a broken
// network.
//
// The lock (flock) of ATTEMPT only reduces contention between processes of one node. Correctness
// does not depend on the lock: on many network file systems a lock has no effect across nodes, and
// some do not support locks.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_

#include <sys/file.h>

#include <cstdint>
#include <string>

#include "trainer/checkpoint/writer_key.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Locks an open file, like flock(2). Tests replace it with a function that does not lock.
using LockFile = int (*)(int fd, int operation);

// Holds the lock of `directory`/ATTEMPT while this object exists, if the file system supports
// locks.
class FenceLock {
 public:
  // Waits for the lock. Creates the directory and the file if they do not exist. Throws
  // TrainerError kCannotWrite.
  explicit FenceLock(const std::string& directory, LockFile lock = flock);
  ~FenceLock();
  FenceLock(const FenceLock&) = delete;
  FenceLock& operator=(const FenceLock&) = delete;

  // Returns the newest writer that a claim or the file ATTEMPT names. Its job is 0 if the
  // directory was never claimed. A file of an earlier version contains no job number; its attempt
  // belongs to job 0. Throws kBadData if the file is malformed, kCannotWrite if the directory
  // cannot be read.
  WriterKey Newest() const;
  // Durably claims the directory for `writer`. If another process claims the directory
  // concurrently, later calls of Newest return the newer of the two writers.
  void SetNewest(const WriterKey& writer);
  // Throws TrainerError kFenced if a writer that is newer than `writer` has claimed the directory.
  void CheckNotNewerThan(const WriterKey& writer) const;

 private:
  WriterKey NewestInFile() const;
  WriterKey NewestClaim() const;
  // Returns the names of the files that the user may remove, for an error message.
  std::string NamesToRemove() const;

  std::string directory_;
  std::string path_;
  std::string former_path_;  // Path of directory/EPOCH, the name that earlier versions used.
  int file_ = -1;
};

// Throws TrainerError kBadConfig if the directory is claimed by another job that is in `live_jobs`
// ("3,17"). The controller compares only the paths of checkpoint directories. This check also finds
// a job that reaches the directory through another path, such as a symbolic link, because the claim
// is a file inside the directory. Call this before RaiseFence, which would fence the other job.
void CheckOwnerHasEnded(const std::string& directory, const WriterKey& writer,
                        const std::string& live_jobs);

// Raises the fence at the start of an attempt: once it returns, no older attempt can publish. Every
// rank may call it, any number of times. Throws TrainerError kFenced if a newer attempt has claimed
// the directory.
void RaiseFence(const std::string& directory, const WriterKey& writer, LockFile lock = flock);

// The checkpoint directory on which the gang has agreed, as found by one process.
struct ClaimedDirectory {
  std::string nonce;    // Nonce in the attempt's claim file; equal on every rank.
  uint64_t device = 0;  // Device number of the directory at the time of the claim.
  uint64_t inode = 0;
};

// Thrown if the checkpoint directory is not, or is no longer, the directory that the gang claimed.
class UnsharedDirectory : public TrainerError {
 public:
  explicit UnsharedDirectory(const std::string& message)
      : TrainerError(ExitCode::kCannotWrite, message) {}
};

// The nonce of a claim that could not be signed, for example because the disk was full. Only the
// existence of an unsigned claim is checked.
inline constexpr char kUnsigned[] = "00000000000000000000000000000000";

// Writes a new nonce into the attempt's claim file and returns it. Call it after RaiseFence. Any
// process that reads the same nonce sees the same directory. Returns kUnsigned if the nonce cannot
// be written.
std::string SignClaim(const std::string& directory, const WriterKey& writer);

// Compares the attempt's claim in `directory` with the expected nonce. Returns "" if they match,
// otherwise the difference, such as "there is no ATTEMPT.9.3".
std::string ClaimDifference(const std::string& directory, const WriterKey& writer,
                            const std::string& nonce);

// Returns the directory to which the path leads now, for later calls of CheckStillClaimed.
ClaimedDirectory ClaimedDirectoryAt(const std::string& directory, const std::string& nonce);

// Throws UnsharedDirectory if the path no longer leads to the claimed directory, for example after
// an unmount. Throws TrainerError kFenced if a newer attempt has claimed the directory. An emptied
// directory still counts as the claimed directory.
void CheckStillClaimed(const std::string& directory, const WriterKey& writer,
                       const ClaimedDirectory& claimed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FENCE_H_
