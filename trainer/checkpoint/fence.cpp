#include "trainer/checkpoint/fence.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "proto/contract/checkpoint_claim.h"
#include "proto/files/directory_nonce.h"
#include "proto/files/unique_fd.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/retention.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// The file contains "ATTEMPT JOB". Both numbers have a fixed width, so that one write replaces them
// in place. The file must not be replaced by a rename, because other processes would then hold the
// lock of a removed file.
constexpr int kNumberBytes = 20;
constexpr int kFenceBytes = 2 * kNumberBytes + 2;

// Reads a number >= 0 at `at` and moves `at` past it. Returns false if there is no number.
bool ReadNumber(const char*& at, const char* end, int64_t& number) {
  const auto [stop, error] = std::from_chars(at, end, number);
  at = stop;
  return error == std::errc() && number >= 0;
}

[[noreturn]] void CannotUse(const std::string& what, const std::string& path) {
  throw TrainerError(ExitCode::kCannotWrite,
                     "cannot " + what + " " + path + ": " + std::strerror(errno));
}

// Hard-links the fence file of an earlier version, EPOCH, to its present name. Both names then
// refer to one file, so a running trainer of the earlier version is fenced, too.
void LinkFormerFence(const std::string& former_path, const std::string& path) {
  if (link(former_path.c_str(), path.c_str()) == 0 || errno == ENOENT || errno == EEXIST) return;
  CannotUse("link " + former_path + " to", path);
}

// True if `error` means that the file system does not support locks or that its lock server does
// not respond.
bool HasNoLocks(int error) {
  return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

// Returns the name of the writer's claim file. The name has no suffix for generation 1, as in
// earlier versions.
std::string ClaimName(const WriterKey& writer) {
  const std::string generation =
      writer.generation == 1 ? "" : "." + std::to_string(writer.generation);
  return kClaimPrefix + std::to_string(writer.attempt.job_id) + "." +
         std::to_string(writer.attempt.number) + generation;
}

// Returns nullopt if `name` is not the name of a claim file.
std::optional<WriterKey> WriterOfClaim(const std::string& name) {
  if (name.rfind(kClaimPrefix, 0) != 0) return std::nullopt;
  const char* at = name.data() + std::strlen(kClaimPrefix);
  const char* end = name.data() + name.size();
  WriterKey writer;
  if (!ReadNumber(at, end, writer.attempt.job_id) || at == end || *at != '.') return std::nullopt;
  if (!ReadNumber(++at, end, writer.attempt.number)) return std::nullopt;
  if (at == end) return writer;
  if (*at != '.' || !ReadNumber(++at, end, writer.generation) || at != end) return std::nullopt;
  return writer;
}

// Returns the writer and the path of each claim file in the directory.
std::vector<std::pair<WriterKey, std::string>> ClaimsIn(const std::string& directory) {
  std::vector<std::pair<WriterKey, std::string>> claims;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (const auto writer = WriterOfClaim(entry->path().filename().string())) {
      claims.emplace_back(*writer, path);
    }
  }
  if (error) {
    throw TrainerError(ExitCode::kCannotWrite, "cannot read " + directory + ": " + error.message());
  }
  return claims;
}

// Throws kFenced if `newest` is newer than `writer`. The error message contains `path`, the path of
// the fence, and `to_remove`, the files that the user may remove if the other job has ended.
void CheckNoneNewer(const WriterKey& newest, const WriterKey& writer, const std::string& path,
                    const std::string& to_remove) {
  if (newest <= writer) return;
  if (newest.attempt == writer.attempt) {
    throw TrainerError(ExitCode::kFenced,
                       "the gang of attempt " + std::to_string(writer.attempt.number) +
                           " has continued without this process, as generation " +
                           std::to_string(newest.generation) + " (" + path + ")");
  }
  const std::string begun = "attempt " + std::to_string(newest.attempt.number);
  if (newest.attempt.job_id == writer.attempt.job_id) {
    throw TrainerError(ExitCode::kFenced, "attempt " + std::to_string(writer.attempt.number) +
                                              " is over, because " + begun + " has begun (" + path +
                                              ")");
  }
  throw TrainerError(ExitCode::kFenced, "this checkpoint directory belongs to job " +
                                            std::to_string(newest.attempt.job_id) + " (" + begun +
                                            "); use another directory, or remove " + to_remove +
                                            " once no process of that job runs");
}

// Makes a network file system client refresh its listing of the directory, which may be up to a
// minute old. Creating a file makes the client query the server again.
void RefreshListing(const std::string& path) {
  const std::string look = path + ".look-" + std::to_string(getpid());
  const UniqueFd file(open(look.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  unlink(look.c_str());
}

}  // namespace

FenceLock::FenceLock(const std::string& directory, LockFile lock)
    : directory_(directory), path_(directory + "/ATTEMPT"), former_path_(directory + "/EPOCH") {
  MakeDirectories(directory);
  LinkFormerFence(former_path_, path_);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) CannotUse("open", path_);
  while (lock(file_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    if (HasNoLocks(errno)) return;
    close(file_);
    CannotUse("lock", path_);
  }
}

FenceLock::~FenceLock() { close(file_); }

WriterKey FenceLock::Newest() const { return std::max(NewestInFile(), NewestClaim()); }

WriterKey FenceLock::NewestClaim() const {
  RefreshListing(path_);
  WriterKey newest;
  for (const auto& [claim, _] : ClaimsIn(directory_)) newest = std::max(newest, claim);
  return newest;
}

WriterKey FenceLock::NewestInFile() const {
  char text[kFenceBytes + 1] = {};
  const ssize_t bytes = pread(file_, text, kFenceBytes, 0);
  if (bytes < 0) CannotUse("read", path_);
  if (bytes == 0) return {};
  WriterKey newest;
  const char* at = text;
  bool complete = ReadNumber(at, text + bytes, newest.attempt.number);
  if (complete && *at == ' ') complete = ReadNumber(++at, text + bytes, newest.attempt.job_id);
  if (!complete || (*at != '\n' && *at != '\0')) {
    throw TrainerError(
        ExitCode::kBadData,
        path_ +
            " does not contain an attempt number; write the number of the job's newest attempt "
            "into this file, or remove the file if no job uses its directory");
  }
  return newest;
}

std::string FenceLock::NamesToRemove() const {
  const bool has_former = access(former_path_.c_str(), F_OK) == 0;
  return has_former ? path_ + "* and " + former_path_ : path_ + "*";
}

void FenceLock::SetNewest(const WriterKey& writer) {
  const std::string claim = directory_ + "/" + ClaimName(writer);
  const UniqueFd file(open(claim.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid() && errno != EEXIST) CannotUse("make", claim);
  SyncDirectory(directory_);
  if (writer <= NewestInFile()) return;
  char text[kFenceBytes + 1];
  std::snprintf(text, sizeof(text), "%0*lld %0*lld\n", kNumberBytes,
                static_cast<long long>(writer.attempt.number), kNumberBytes,
                static_cast<long long>(writer.attempt.job_id));
  if (pwrite(file_, text, kFenceBytes, 0) != kFenceBytes || fsync(file_) != 0) {
    CannotUse("write", path_);
  }
}

void FenceLock::CheckNotNewerThan(const WriterKey& writer) const {
  CheckNoneNewer(Newest(), writer, path_, NamesToRemove());
}

void CheckOwnerHasEnded(const std::string& directory, const WriterKey& writer,
                        const std::string& live_jobs) {
  if (live_jobs.empty()) return;
  const WriterKey owner = FenceLock(directory).Newest();
  const std::string name = "," + std::to_string(owner.attempt.job_id) + ",";
  if (owner.attempt.job_id == writer.attempt.job_id ||
      ("," + live_jobs + ",").find(name) == std::string::npos) {
    return;
  }
  throw TrainerError(ExitCode::kBadConfig,
                     "checkpoint directory " + directory + " is in use by job " +
                         std::to_string(owner.attempt.job_id) + ", which has not ended (" +
                         directory + "/" + ClaimName(owner) +
                         "); stop that job first, or set another checkpoint.dir");
}

void RaiseFence(const std::string& directory, const WriterKey& writer, LockFile lock_file) {
  FenceLock lock(directory, lock_file);
  lock.CheckNotNewerThan(writer);
  lock.SetNewest(writer);
  // Checked again, because a newer attempt may have claimed the directory concurrently.
  lock.CheckNotNewerThan(writer);
  TakeFromOlder(directory, writer);
  for (const auto& [claim, path] : ClaimsIn(directory)) {
    if (claim < writer) unlink(path.c_str());
  }
}

std::string SignClaim(const std::string& directory, const WriterKey& writer) {
  const std::string nonce = NewNonce();
  if (nonce.empty()) return kUnsigned;
  try {
    WriteFileAtomically(directory + "/" + ClaimName(writer), nonce + "\n");
  } catch (const TrainerError&) {
    // The attempt starts although it cannot sign the claim, because the user may free disk space
    // before the first save.
    return kUnsigned;
  }
  return nonce;
}

std::string ClaimDifference(const std::string& directory, const WriterKey& writer,
                            const std::string& nonce) {
  const ReadNonceResult read = ReadNonce(directory + "/" + ClaimName(writer));
  const bool is_there = !read.error.has_value() || read.error->number == EBADMSG;
  if (is_there && nonce == kUnsigned) return "";
  if (!read.error.has_value()) {
    return read.nonce == nonce ? "" : "another gang has created " + ClaimName(writer);
  }
  if (read.error->number == ENOENT) return "there is no " + ClaimName(writer);
  return read.error->action + ": " + std::strerror(read.error->number);
}

ClaimedDirectory ClaimedDirectoryAt(const std::string& directory, const std::string& nonce) {
  ClaimedDirectory claimed{nonce, 0, 0};
  struct stat info {};
  if (stat(directory.c_str(), &info) == 0) {
    claimed.device = info.st_dev;
    claimed.inode = info.st_ino;
  }
  return claimed;
}

void CheckStillClaimed(const std::string& directory, const WriterKey& writer,
                       const ClaimedDirectory& claimed) {
  const std::string difference = ClaimDifference(directory, writer, claimed.nonce);
  if (difference.empty()) return;
  const ClaimedDirectory now = ClaimedDirectoryAt(directory, claimed.nonce);
  const bool is_there = now.inode != 0;
  if (is_there) {
    WriterKey newest;
    for (const auto& [claim, _] : ClaimsIn(directory)) newest = std::max(newest, claim);
    CheckNoneNewer(newest, writer, directory + "/ATTEMPT", directory + "/ATTEMPT*");
    if (now.inode == claimed.inode && now.device == claimed.device) return;
  }
  throw UnsharedDirectory(
      "the checkpoint directory that existed when this attempt started is no longer at " +
      directory + (is_there ? " (" + difference + ")" : " (there is none)") +
      ". Mount the storage of the directory again on this node");
}

}  // namespace trainyard::trainer
