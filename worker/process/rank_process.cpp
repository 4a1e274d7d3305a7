#include "worker/process/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"
#include "proto/support/durable_file.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {
namespace {

// True while a shim (or a Launch) holds the directory's lock. The test itself takes no lock, so it
// disturbs no other process.
absl::StatusOr<bool> IsHeld(const std::string& rank_dir) {
  const std::string path = PathOf(rank_dir, kLockFile);
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return false;
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) return ErrnoStatus(errno, "cannot test", path);
  return lock.l_type != F_UNLCK;
}

bool IsOfThisBoot(const ShimRecord& record) { return record.boot_id == BootId(); }

// Living processes of the rank's group when its leader is gone. A group id cannot be reused while a
// member lives, and a recycled pid would show as a group leader.
std::vector<ProcessStat> Leftovers(const ShimRecord& record) {
  if (!IsOfThisBoot(record)) return {};
  std::vector<ProcessStat> members = MembersOfGroup(record.rank.pid);
  for (const ProcessStat& member : members) {
    if (member.pid == record.rank.pid || member.start_time < record.rank.start_time) return {};
  }
  return members;
}

RankState Vanished(std::string summary, const std::optional<ShimRecord>& record) {
  RankState state;
  state.presence = RankPresence::kVanished;
  state.exit.signal = SIGKILL;
  state.summary = std::move(summary);
  if (record.has_value()) {
    state.rank_pid = record->rank.pid;
    state.started_ms = record->started_ms;
    state.processes_remain = !Leftovers(*record).empty();
  }
  return state;
}

// The state when no shim lives and there is no exit record.
RankState StateWithoutShim(const ShimRecord& record) {
  if (!IsOfThisBoot(record)) {
    return Vanished("the machine was restarted while the rank ran", record);
  }
  if (!IsRunning(record.rank)) {
    return Vanished("the rank and its shim are gone without an exit record", record);
  }
  RankState state;
  state.presence = RankPresence::kRunning;
  state.rank_pid = record.rank.pid;
  state.started_ms = record.started_ms;
  return state;
}

absl::StatusOr<RankState> StateFromExit(const std::string& rank_dir, bool held) {
  TRAINYARD_ASSIGN_OR_RETURN(RankExit exit, ReadRankExit(rank_dir));
  RankState state;
  state.presence = RankPresence::kExited;
  state.exit = std::move(exit);
  state.processes_remain = held;
  if (const absl::StatusOr<ShimRecord> record = ReadShimRecord(rank_dir); record.ok()) {
    state.rank_pid = record->rank.pid;
    state.started_ms = record->started_ms;
  }
  return state;
}

absl::StatusOr<UniqueFd> OpenPidfd(const ProcessId& process) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd.valid() && errno == ENOSYS) {
    return absl::UnimplementedError("this kernel has no pidfd_open (Linux 5.3)");
  }
  if (!fd.valid() && errno != ESRCH) {
    return ErrnoStatus(errno, "cannot watch process", absl::StrCat(process.pid));
  }
  // After opening: the descriptor now pins the process that is checked.
  if (!fd.valid() || !IsRunning(process)) {
    return absl::NotFoundError(absl::StrCat("process ", process.pid, " is gone"));
  }
  return fd;
}

absl::Status Send(pid_t target, int signal) {
  if (kill(target, signal) == 0) return absl::OkStatus();
  if (errno == ESRCH) return absl::NotFoundError(absl::StrCat("process ", target, " is gone"));
  return ErrnoStatus(errno, "cannot signal process", absl::StrCat(target));
}

absl::Status SaveNow(pid_t rank) {
  if (!CatchesSignal(rank, SIGUSR1)) {
    return absl::FailedPreconditionError(
        "the program has no handler for SIGUSR1 (save now), which would end it");
  }
  return Send(rank, SIGUSR1);
}

}  // namespace

absl::StatusOr<RankState> ReadRankState(const std::string& rank_dir) {
  // Comes before the records are read: once the lock is free no process writes them any more.
  TRAINYARD_ASSIGN_OR_RETURN(const bool held, IsHeld(rank_dir));
  absl::StatusOr<RankState> exited = StateFromExit(rank_dir, held);
  if (exited.ok()) return exited;
  if (absl::IsDataLoss(exited.status())) return Vanished(exited.status().ToString(), std::nullopt);
  if (!absl::IsNotFound(exited.status())) return exited.status();

  const absl::StatusOr<ShimRecord> record = ReadShimRecord(rank_dir);
  RankState state;
  if (absl::IsNotFound(record.status())) {
    state.presence = held ? RankPresence::kStarting : RankPresence::kNeverStarted;
    return state;
  }
  if (absl::IsDataLoss(record.status()) && !held) {
    return Vanished(record.status().ToString(), std::nullopt);
  }
  if (!record.ok()) return record.status();
  if (!held) return StateWithoutShim(*record);
  state.presence = RankPresence::kRunning;
  state.rank_pid = record->rank.pid;
  state.started_ms = record->started_ms;
  return state;
}

absl::StatusOr<UniqueFd> OpenExitWatch(const std::string& rank_dir) {
  TRAINYARD_ASSIGN_OR_RETURN(const ShimRecord record, ReadShimRecord(rank_dir));
  if (!IsOfThisBoot(record)) {
    return absl::NotFoundError("the machine was restarted since the rank ran");
  }
  absl::StatusOr<UniqueFd> shim = OpenPidfd(record.shim);
  if (shim.ok() || !absl::IsNotFound(shim.status())) return shim;
  return OpenPidfd(record.rank);
}

absl::Status SignalRank(const std::string& rank_dir, RankSignal signal) {
  TRAINYARD_ASSIGN_OR_RETURN(const ShimRecord record, ReadShimRecord(rank_dir));
  const bool running = IsOfThisBoot(record) && IsRunning(record.rank);
  if (!running && (signal != RankSignal::kKill || Leftovers(record).empty())) {
    return absl::NotFoundError(absl::StrCat("rank process ", record.rank.pid, " does not run"));
  }
  switch (signal) {
    case RankSignal::kTerminate:
      return Send(-record.rank.pid, SIGTERM);
    case RankSignal::kSaveNow:
      return SaveNow(record.rank.pid);
    case RankSignal::kKill:
      break;
  }
  // kill.json only keeps the exit from being attributed to the memory killer; a full disk must not
  // keep the rank alive.
  WriteFileAtomically(PathOf(rank_dir, kKillFile), "{}\n").IgnoreError();
  return Send(-record.rank.pid, SIGKILL);
}

}  // namespace trainyard::worker
