#include "worker/process/shim.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/boot_id.h"
#include "proto/support/clock.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "worker/process/descendants.h"
#include "worker/process/memory_kills.h"
#include "worker/process/process_table.h"
#include "worker/process/rank_child.h"
#include "worker/process/rank_files.h"
#include "worker/process/rank_group.h"
#include "worker/process/shim_protocol.h"

namespace trainyard::worker {
namespace {

constexpr int kUsageExit = 2;
constexpr std::size_t kExitRecordBytes = 4096;
// The time limit of a sweep. A process that hangs in the kernel (a GPU driver, a dead file server)
// cannot be killed, and the exit record must be written nevertheless.
constexpr std::chrono::milliseconds kSweep{2000};

// The state of the shim.
struct Shim {
  std::string rank_dir;
  // The lock and the pipe are passed by the worker (shim_protocol.h).
  UniqueFd lock;
  UniqueFd ready;
  std::string inherited_score;
};

Timestamp Now() { return SystemClock().Now(); }

void Write(const Shim& shim, std::string_view text) {
  while (write(shim.ready.get(), text.data(), text.size()) < 0 && errno == EINTR) {
  }
}

void AnswerReady(Shim& shim) {
  Write(shim, kShimReadyAnswer);
  shim.ready.Reset();
}

// Answers that this process starts nothing, and ends the process without closing the pipe. The
// answer ends when the pipe is closed, and the worker may then start the rank again. At that time
// the worker must find no mark of this process. The kernel guarantees this: it frees a process's
// memory, which contains the mark, before it closes the descriptors.
void Refuse(Shim& shim, std::string_view text) {
  shim.lock.Reset();
  Write(shim, text);
  std::ignore = shim.ready.Release();
}

// Returns the rank's directory if the command line is valid; otherwise nullopt.
std::optional<std::string> ParseCommandLine(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--dir" || argv[2][0] != '/') return std::nullopt;
  return argv[2];
}

// Takes over the descriptors that the worker has passed. Returns false if descriptors are missing.
bool TakeDescriptors(Shim& shim) {
  for (const int fd : {kShimLockFd, kShimReadyFd}) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return false;
  }
  shim.lock.Reset(kShimLockFd);
  shim.ready.Reset(kShimReadyFd);
  closefrom(kShimReadyFd + 1);
  return true;
}

// Leaves the worker's session, so that signals to that session do not reach the shim.
void BecomeGuardian() {
  setsid();
  if (chdir("/") != 0) errno = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ}) {
    std::ignore = ::signal(signal, SIG_IGN);
  }
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  // SIGCHLD is blocked, not ignored, because the sweep waits for SIGCHLD with a deadline.
  sigprocmask(SIG_BLOCK, &child, nullptr);
  // Makes orphans of the rank children of the shim, so that the sweep finds all of them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "trainyard-shim");
}

absl::StatusOr<UniqueFd> OpenOutput(const std::string& rank_dir) {
  const std::string path = absl::StrCat(rank_dir, "/", kOutputFile);
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd fd,
                             OpenRegularFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW));
  // This also clears O_NONBLOCK, because the file becomes the rank's stdout, and programs expect a
  // blocking stdout.
  if (fcntl(fd.get(), F_SETFL, O_APPEND) != 0) return ErrnoStatus(errno, "cannot set up", path);
  return fd;
}

// Reaps descendants until none is left, however long this takes.
void AwaitDescendants() {
  while (!KillDescendants(kSweep)) {
  }
}

RankExit ExitOf(int wait_status) {
  RankExit exit;
  if (WIFSIGNALED(wait_status)) {
    exit.signal = WTERMSIG(wait_status);
  } else {
    exit.exit_code = WEXITSTATUS(wait_status);
  }
  exit.ended_ms = Now();
  return exit;
}

// Returns true if the out-of-memory killer probably ended the rank, that is, if
// - SIGKILL ended the rank or, if the rank is a shell, its command;
// - this worker did not send the SIGKILL; and
// - the out-of-memory killer has killed a process of this cgroup since the rank was started.
bool EndedByMemoryKiller(const RankExit& exit, const std::string& rank_dir,
                         std::optional<int64_t> kills_before) {
  constexpr int kShellsCodeOfKill = 128 + SIGKILL;
  const bool was_killed = exit.signal == SIGKILL || exit.exit_code == kShellsCodeOfKill;
  if (!was_killed || !kills_before.has_value()) return false;
  if (access(absl::StrCat(rank_dir, "/", kKillFile).c_str(), F_OK) == 0) return false;
  return MemoryKills().value_or(0) > *kills_before;
}

// Waits until the rank ends, and kills the processes that the rank left.
RankExit Guard(const Shim& shim, pid_t rank, std::optional<int64_t> kills_before) {
  AwaitChild(rank);
  kill(-rank, SIGKILL);
  int wait_status = 0;
  while (waitpid(rank, &wait_status, 0) < 0 && errno == EINTR) {
  }
  RankExit exit = ExitOf(wait_status);
  exit.out_of_memory = EndedByMemoryKiller(exit, shim.rank_dir, kills_before);
  KillDescendants(kSweep);
  return exit;
}

// Writes shim.json before the rank is released, so that a worker can find every running rank.
absl::StatusOr<RankExit> RunRank(Shim& shim, HeldRank rank) {
  const std::optional<int64_t> kills_before = MemoryKills();
  const std::optional<ProcessStat> own = ReadProcessStat(getpid());
  const std::optional<ProcessStat> child = ReadProcessStat(rank.pid());
  if (!own.has_value() || !child.has_value()) {
    return absl::InternalError(
        "/proc does not show the shim or its rank; check that /proc is mounted");
  }
  TRAINYARD_RETURN_IF_ERROR(WriteShimRecord(
      shim.rank_dir,
      {{own->pid, own->start_time}, {child->pid, child->start_time}, Now(), BootId()}));
  // Answer before the rank is released. Otherwise a rank whose working directory or program is on a
  // hanging file server would delay the worker.
  AnswerReady(shim);
  const std::optional<StartFailure> failure = rank.Release();
  RankExit exit = Guard(shim, rank.pid(), kills_before);
  if (failure.has_value()) {
    exit.exit_code = kSpawnErrorExit;
    exit.spawn_error = failure->cause;
    exit.node_at_fault = failure->node_at_fault;
  }
  return exit;
}

// Moves the secrets from this process's environment, where the worker has put them, to the rank's
// environment.
void TakeSecrets(RankCommand& command) {
  constexpr std::string_view kPrefix = kShimSecretPrefix;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (text.substr(0, kPrefix.size()) != kPrefix || equals == std::string_view::npos) continue;
    const std::string name(text.substr(kPrefix.size(), equals - kPrefix.size()));
    command.environment[name] = std::string(text.substr(equals + 1));
  }
}

absl::Status Run(Shim& shim) {
  TRAINYARD_ASSIGN_OR_RETURN(RankCommand command, ReadRankCommand(shim.rank_dir));
  TakeSecrets(command);
  TRAINYARD_RETURN_IF_ERROR(
      ReserveAtomicFile(absl::StrCat(shim.rank_dir, "/", kExitFile), kExitRecordBytes));
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd output, OpenOutput(shim.rank_dir));
  const StandardFds fds = {.output = output.get(), .error = output.get()};
  TRAINYARD_ASSIGN_OR_RETURN(HeldRank rank, HeldRank::Fork(command, fds, shim.inherited_score));
  // Ignore an error: without groups, the mark and the shim are enough to find the processes.
  JoinRankGroup(command.mark, rank.pid(), command.processes_max).IgnoreError();
  TRAINYARD_ASSIGN_OR_RETURN(const RankExit exit, RunRank(shim, std::move(rank)));
  TRAINYARD_RETURN_IF_ERROR(WriteRankExit(shim.rank_dir, exit));
  AwaitDescendants();
  RemoveRankGroup(command.mark);
  return absl::OkStatus();
}

}  // namespace

int RunShim(int argc, char** argv) {
  Shim shim;
  const std::optional<std::string> rank_dir = ParseCommandLine(argc, argv);
  if (!rank_dir.has_value() || !TakeDescriptors(shim)) {
    std::cerr << "usage: trainyard-worker shim --dir ABSOLUTE_RANK_DIR (run by the worker only)\n";
    return kUsageExit;
  }
  shim.rank_dir = *rank_dir;
  // Fork a second time. The parent ends at once, so the shim becomes a child of init instead of the
  // worker.
  const pid_t pid = fork();
  if (pid != 0) {
    if (pid < 0) Refuse(shim, absl::StrCat("cannot fork the shim: ", strerror(errno)));
    _exit(pid < 0 ? 1 : 0);
  }
  BecomeGuardian();
  shim.inherited_score = LowerMemoryKillerScore();
  const absl::Status status = Run(shim);
  if (!status.ok() && shim.ready.valid()) Refuse(shim, Text(status));
  return status.ok() ? 0 : 1;
}

}  // namespace trainyard::worker
