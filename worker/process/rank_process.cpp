#include "worker/process/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/support/boot_id.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "worker/process/process_table.h"
#include "worker/process/rank_mark.h"

namespace trainyard::worker {
namespace {

// True while a shim or a running Launch has locked the directory. False if the lock file is lost.
// The test takes no lock itself, so it does not disturb other processes.
absl::StatusOr<bool> IsHeld(const std::string& rank_dir) {
  const std::string path = PathOf(rank_dir, kLockFile);
  const absl::StatusOr<UniqueFd> fd = OpenRegularFile(path, O_RDWR | O_NOFOLLOW);
  if (absl::IsNotFound(fd.status()) || absl::IsFailedPrecondition(fd.status())) return false;
  TRAINYARD_RETURN_IF_ERROR(fd.status());
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd->get(), F_OFD_GETLK, &lock) != 0) return ErrnoStatus(errno, "cannot test", path);
  return lock.l_type != F_UNLCK;
}

bool IsOfThisBoot(const ShimRecord& record) { return record.boot_id == BootId(); }

// True if the rank in the record is running.
bool Runs(const absl::StatusOr<ShimRecord>& record) {
  return record.ok() && IsOfThisBoot(*record) && IsRunning(record->rank);
}

// Returns the living processes of the rank's group after its leader is gone. All of them belong to
// the rank, because a group id cannot be reused while the group has a member. If a member has the
// leader's pid or is older than the leader, the group is not the rank's, and the result is empty.
std::vector<ProcessStat> Leftovers(const ShimRecord& record) {
  if (!IsOfThisBoot(record)) return {};
  std::vector<ProcessStat> members = MembersOfGroup(record.rank.pid);
  for (const ProcessStat& member : members) {
    if (member.pid == record.rank.pid || member.start_time < record.rank.start_time) return {};
  }
  return members;
}

// Returns the rank's first process, found by its mark; nullopt if that process is not running.
std::optional<ProcessStat> MarkedLeader(const std::vector<MarkedProcess>& marked) {
  for (const MarkedProcess& process : marked) {
    if (process.leader == process.stat.pid) return process.stat;
  }
  return std::nullopt;
}

bool HasShim(const std::vector<MarkedProcess>& marked) {
  return std::ranges::any_of(marked, &MarkedProcess::is_shim);
}

RankState Running(const ShimRecord& record) {
  RankState state;
  state.presence = RankPresence::kRunning;
  state.rank_pid = record.rank.pid;
  state.started_ms = record.started_ms;
  return state;
}

// Returns the state of an ended rank with a living shim.
RankState Unreported(const ShimRecord& record) {
  RankState state = Running(record);
  state.shim_overdue = true;
  return state;
}

bool IsStopped(const ProcessId& process) {
  const std::optional<ProcessStat> stat = ReadProcessStat(process.pid);
  return stat.has_value() && stat->start_time == process.start_time &&
         (stat->state == 'T' || stat->state == 't');
}

// Returns the state of a rank with lost records, which was found only by its mark.
RankState RunningUnrecorded(const ProcessStat& leader) {
  RankState state;
  state.presence = RankPresence::kRunning;
  state.rank_pid = leader.pid;
  return state;
}

RankState OfPresence(RankPresence presence) {
  RankState state;
  state.presence = presence;
  return state;
}

RankState Vanished(std::string summary, const absl::StatusOr<ShimRecord>& record) {
  RankState state;
  state.presence = RankPresence::kVanished;
  state.exit.signal = SIGKILL;
  state.summary = std::move(summary);
  if (record.ok()) {
    state.rank_pid = record->rank.pid;
    state.started_ms = record->started_ms;
    state.processes_remain = !Leftovers(*record).empty();
  }
  return state;
}

// Returns the reason why a rank without an exit record counts as ended.
std::string VanishedSummary(const absl::Status& exit, const absl::StatusOr<ShimRecord>& record) {
  if (!absl::IsNotFound(exit)) return Text(exit);
  if (absl::IsNotFound(record.status())) {
    return "the records of the rank are lost, and no process of the rank is left";
  }
  if (!record.ok()) return Text(record.status());
  if (!IsOfThisBoot(*record)) return "the machine was restarted while the rank ran";
  return "the rank and its shim are gone without an exit record";
}

// Returns `state` after adding the remaining processes of an ended rank.
RankState WithRest(RankState state, bool held, const std::vector<MarkedProcess>& marked) {
  const bool attended = held || HasShim(marked);
  state.processes_remain |= attended || !marked.empty();
  state.unattended = state.processes_remain && !attended;
  return state;
}

RankState StateFromExit(const RankPlace& place, RankExit exit, bool held) {
  RankState state;
  state.presence = RankPresence::kExited;
  state.exit = std::move(exit);
  const absl::StatusOr<ShimRecord> record = ReadShimRecord(place.records);
  if (record.ok()) {
    state.rank_pid = record->rank.pid;
    state.started_ms = record->started_ms;
  }
  if (held) {
    // The exit is recorded, but the shim is still alive. This is normal for a running shim: it ends
    // the processes left by its rank, which may take any time. A suspended shim (SIGSTOP) cannot
    // end them and is overdue.
    state.shim_overdue = record.ok() && IsOfThisBoot(*record) && IsStopped(record->shim);
    return WithRest(std::move(state), held, {});
  }
  if (record.ok()) state.processes_remain = !Leftovers(*record).empty();
  return WithRest(std::move(state), held, FindMarked(place.mark));
}

// Returns the state of a rank without an exit record. `exit` is the error of reading that record.
absl::StatusOr<RankState> StateWithoutExit(const RankPlace& place, bool held,
                                           const absl::Status& exit) {
  const absl::StatusOr<ShimRecord> record = ReadShimRecord(place.records);
  const bool is_lost = absl::IsNotFound(record.status()) || absl::IsDataLoss(record.status());
  if (!record.ok() && !is_lost) return record.status();
  // Ignore a damaged exit record, because the living shim will replace the record.
  if (Runs(record)) return Running(*record);
  if (record.ok() && held) return Unreported(*record);
  const std::vector<MarkedProcess> marked = FindMarked(place.mark);
  if (record.ok() && HasShim(marked)) return Unreported(*record);
  if (!record.ok()) {
    if (const auto leader = MarkedLeader(marked)) return RunningUnrecorded(*leader);
    if (held || HasShim(marked)) return OfPresence(RankPresence::kStarting);
    if (marked.empty() && absl::IsNotFound(exit) && IsUnused(place.records)) {
      return OfPresence(RankPresence::kNeverStarted);
    }
  }
  return WithRest(Vanished(VanishedSummary(exit, record), record), held, marked);
}

absl::StatusOr<UniqueFd> OpenPidfd(const ProcessId& process) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd.valid() && errno == ENOSYS) {
    return absl::UnimplementedError(
        "this kernel has no pidfd_open; Linux 5.3 or newer is required");
  }
  if (!fd.valid() && errno != ESRCH) {
    return ErrnoStatus(errno, "cannot watch process", absl::StrCat(process.pid));
  }
  // Check this after opening the pidfd. If the process is still running, the descriptor refers to
  // it, even if the pid is reused later.
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

// Kills the rank's group and all processes with the rank's mark. `rank` is the pid of the rank's
// first process; 0 if that process is not running.
absl::Status Kill(const RankPlace& place, const absl::StatusOr<ShimRecord>& record, pid_t rank) {
  const bool has_group = rank > 0 || (record.ok() && !Leftovers(*record).empty());
  // Ignore an error, because the rank must be killed even if the disk is full. Without kill.json,
  // the exit may be attributed to the out-of-memory killer.
  if (has_group) WriteFileAtomically(PathOf(place.records, kKillFile), "{}\n").IgnoreError();
  const absl::Status sent = has_group ? Send(rank > 0 ? -rank : -record->rank.pid, SIGKILL)
                                      : absl::NotFoundError("the rank has no running process");
  return KillMarked(place.mark) > 0 ? absl::OkStatus() : sent;
}

}  // namespace

absl::StatusOr<RankState> ReadRankState(const RankPlace& place) {
  // Test the lock before the records are read. If the lock is free, no process changes the records
  // any longer.
  TRAINYARD_ASSIGN_OR_RETURN(const bool held, IsHeld(place.records));
  absl::StatusOr<RankExit> exit = ReadRankExit(place.records);
  if (exit.ok()) return StateFromExit(place, *std::move(exit), held);
  if (absl::IsNotFound(exit.status()) || absl::IsDataLoss(exit.status())) {
    return StateWithoutExit(place, held, exit.status());
  }
  return exit.status();
}

void SweepRank(const RankPlace& place) {
  const absl::StatusOr<ShimRecord> record = ReadShimRecord(place.records);
  if (record.ok() && !Leftovers(*record).empty()) kill(-record->rank.pid, SIGKILL);
  KillMarked(place.mark);
}

absl::Status SignalShim(const RankPlace& place, int signal) {
  const absl::StatusOr<ShimRecord> record = ReadShimRecord(place.records);
  std::set<pid_t> shims;
  if (record.ok() && IsOfThisBoot(*record) && IsRunning(record->shim)) {
    shims.insert(record->shim.pid);
  }
  for (const MarkedProcess& process : FindMarked(place.mark)) {
    if (process.is_shim()) shims.insert(process.stat.pid);
  }
  absl::Status sent = absl::NotFoundError("the rank has no running shim");
  for (const pid_t shim : shims) {
    if (signal == SIGKILL && WaitsInKernel(shim)) {
      return absl::FailedPreconditionError(
          absl::StrCat("shim ", shim, " is blocked in the kernel"));
    }
    sent = Send(shim, signal);
  }
  return sent;
}

absl::StatusOr<UniqueFd> OpenExitWatch(const std::string& rank_dir) {
  TRAINYARD_ASSIGN_OR_RETURN(const ShimRecord record, ReadShimRecord(rank_dir));
  if (!IsOfThisBoot(record)) {
    return absl::NotFoundError("the machine was restarted after the rank was started");
  }
  absl::StatusOr<UniqueFd> shim = OpenPidfd(record.shim);
  if (shim.ok() || !absl::IsNotFound(shim.status())) return shim;
  return OpenPidfd(record.rank);
}

absl::Status SignalRank(const RankPlace& place, RankSignal signal) {
  const absl::StatusOr<ShimRecord> record = ReadShimRecord(place.records);
  const bool is_lost = absl::IsNotFound(record.status()) || absl::IsDataLoss(record.status());
  if (!record.ok() && !is_lost) return record.status();
  pid_t rank = Runs(record) ? record->rank.pid : 0;
  if (!record.ok()) {
    const std::optional<ProcessStat> leader = MarkedLeader(FindMarked(place.mark));
    if (leader.has_value()) rank = leader->pid;
  }
  if (signal == RankSignal::kKill) return Kill(place, record, rank);
  if (rank == 0) return absl::NotFoundError("the rank has no running process");
  if (signal == RankSignal::kUser1) return Send(rank, SIGUSR1);
  if (signal == RankSignal::kUser2) return Send(rank, SIGUSR2);
  const absl::Status sent = Send(-rank, SIGTERM);
  TerminateMarkedOutside(place.mark, rank);
  return sent;
}

bool WaitsInKernel(const RankPlace& place) {
  std::set<pid_t> pids;
  const absl::StatusOr<ShimRecord> record = ReadShimRecord(place.records);
  if (record.ok() && IsOfThisBoot(*record)) {
    const std::optional<ProcessStat> rank = ReadProcessStat(record->rank.pid);
    // Include the rank's process even if its first thread has ended, because its other threads may
    // still run.
    if (rank.has_value() && rank->start_time == record->rank.start_time) pids.insert(rank->pid);
    for (const ProcessStat& member : Leftovers(*record)) pids.insert(member.pid);
  }
  for (const MarkedProcess& process : FindMarked(place.mark)) {
    if (!process.is_shim()) pids.insert(process.stat.pid);
  }
  return !pids.empty() && std::ranges::all_of(pids, [](pid_t pid) { return WaitsInKernel(pid); });
}

}  // namespace trainyard::worker
