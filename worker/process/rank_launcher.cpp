#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/process/spawn.h"
#include "proto/support/detached_thread.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "worker/process/rank_mark.h"
#include "worker/process/rank_process.h"
#include "worker/process/shim_protocol.h"

namespace trainyard::worker {
namespace {

using std::chrono::steady_clock;

// The lowest descriptor number for copies in the parent. It is above all descriptors that the shim
// expects, so that dup2 never overwrites a source.
constexpr int kSafeFd = 16;

bool IsPlainText(const std::string& text) {
  return text.find('\0') == std::string::npos && IsUtf8(text);
}

absl::Status CheckCommand(const RankCommand& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    return absl::InvalidArgumentError("the rank's command is empty");
  }
  if (command.working_directory.empty() || command.working_directory.front() != '/') {
    return absl::InvalidArgumentError(
        absl::StrCat("working directory `", command.working_directory, "` is not absolute"));
  }
  bool plain = IsPlainText(command.working_directory);
  for (const std::string& argument : command.argv) plain = plain && IsPlainText(argument);
  for (const auto* variables : {&command.environment, &command.secrets}) {
    for (const auto& [name, value] : *variables) {
      if (name.empty() || name.find('=') != std::string::npos) {
        return absl::InvalidArgumentError(
            absl::StrCat("`", name, "` cannot name an environment variable"));
      }
      plain = plain && IsPlainText(name) && IsPlainText(value);
    }
  }
  if (plain) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the rank's command, environment or working directory contains a NUL byte or is not UTF-8");
}

absl::StatusOr<UniqueFd> MoveUp(UniqueFd fd) {
  UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, kSafeFd));
  if (!moved.valid()) return ErrnoStatus(errno, "cannot duplicate", "a descriptor");
  return moved;
}

// Locks the directory. The lock is held during a start and until the shim ends.
absl::StatusOr<UniqueFd> TakeLock(const std::string& rank_dir) {
  const std::string path = absl::StrCat(rank_dir, "/", kLockFile);
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd fd, OpenRegularFile(path, O_RDWR | O_CREAT | O_NOFOLLOW));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return MoveUp(std::move(fd));
  if (errno == EAGAIN || errno == EACCES) {
    return absl::AlreadyExistsError(absl::StrCat("a shim is already running in ", rank_dir));
  }
  return ErrnoStatus(errno, "cannot lock", path);
}

absl::Status CheckUnused(const RankPlace& place) {
  if (!IsUnused(place.records)) {
    return absl::AlreadyExistsError(absl::StrCat("a rank was already started in ", place.records));
  }
  // The rank may have running processes even if its records are lost.
  if (!FindMarked(place.mark).empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat("processes of the rank in ", place.records, " are already running"));
  }
  return absl::OkStatus();
}

// Returns the environment of the shim: its mark, this process's environment, and the rank's
// secrets.
std::vector<std::string> ShimEnvironment(const RankPlace& place, const RankCommand& command) {
  std::vector<std::string> environment = {absl::StrCat(kShimMarkVariable, "=", place.mark)};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  for (const auto& [name, value] : command.secrets) {
    environment.push_back(absl::StrCat(kShimSecretPrefix, name, "=", value));
  }
  return environment;
}

// Reads the shim's answer from the pipe until the shim closes the pipe.
absl::StatusOr<std::string> AwaitAnswer(int fd, std::chrono::milliseconds limit) {
  const steady_clock::time_point deadline = steady_clock::now() + limit;
  std::string answer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    pollfd waiter = {fd, POLLIN, 0};
    const int count = left.count() <= 0 ? 0 : poll(&waiter, 1, static_cast<int>(left.count()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("the shim did not answer within ", limit.count(), " ms"));
    }
    char buffer[1024];
    const ssize_t bytes = read(fd, buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(bytes));
  }
}

// Starts the shim with the descriptors that it expects, and no others.
absl::StatusOr<pid_t> StartShim(const std::string& program, const RankPlace& place,
                                const RankCommand& command, const UniqueFd& lock,
                                const UniqueFd& ready) {
  pid_t pid = 0;
  const int error = Spawn({.command = {program, "shim", "--dir", place.records},
                           .environment = ShimEnvironment(place, command),
                           .fds = {{.number = STDIN_FILENO, .source = kNullDevice},
                                   {.number = STDOUT_FILENO, .source = kNullDevice},
                                   {.number = STDERR_FILENO, .source = kNullDevice},
                                   {.number = kShimLockFd, .source = lock.get()},
                                   {.number = kShimReadyFd, .source = ready.get()}},
                           .close_other_fds = true,
                           .reset_signals = true},
                          pid);
  if (error != 0) return ErrnoStatus(error, "cannot start", program);
  return pid;
}

absl::Status CheckAnswer(const std::string& answer) {
  if (answer == kShimReadyAnswer) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "the shim could not take over: ",
      answer.empty()
          ? "the shim exited without an answer (it was killed, or the program is not a worker)"
          : answer));
}

}  // namespace

RankLauncher::RankLauncher(std::string shim_program, std::chrono::milliseconds answer_limit)
    : shim_program_(std::move(shim_program)), answer_limit_(answer_limit) {}

absl::Status RankLauncher::Launch(const RankPlace& place, RankCommand command) const {
  const std::string& rank_dir = place.records;
  ReapUnreaped();
  TRAINYARD_RETURN_IF_ERROR(CheckCommand(command));
  if (rank_dir.empty() || rank_dir.front() != '/') {
    return absl::InvalidArgumentError(absl::StrCat("`", rank_dir, "` is not absolute"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd lock, TakeLock(rank_dir));
  TRAINYARD_RETURN_IF_ERROR(CheckUnused(place));
  command.mark = place.mark;
  TRAINYARD_RETURN_IF_ERROR(WriteRankCommand(rank_dir, command));
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make", "a pipe");
  const UniqueFd answer_fd(ends[0]);
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd ready, MoveUp(UniqueFd(ends[1])));

  TRAINYARD_ASSIGN_OR_RETURN(const pid_t pid,
                             StartShim(shim_program_, place, command, lock, ready));
  lock.Reset();
  ready.Reset();
  const absl::StatusOr<std::string> answer = AwaitAnswer(answer_fd.get(), answer_limit_);
  if (!answer.ok()) {
    // Kills a first process that still hangs. The shim, if already forked, is not affected.
    kill(pid, SIGKILL);
    ReapLater(pid);
    return answer.status();
  }
  AwaitExit(pid);
  return CheckAnswer(*answer);
}

void RankLauncher::ReapLater(pid_t pid) const {
  if (RunDetached("reap a shim", [pid] { AwaitExit(pid); }).ok()) return;
  const std::lock_guard lock(mutex_);
  unreaped_.push_back(pid);
}

void RankLauncher::ReapUnreaped() const {
  const std::lock_guard lock(mutex_);
  std::erase_if(unreaped_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
}

}  // namespace trainyard::worker
