#include "worker/process/rank_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_text.h"
#include "worker/process/process_limit.h"
#include "worker/process/program_path.h"
#include "worker/process/rank_mark.h"

namespace trainyard::worker {
namespace {

constexpr int kChannelFd = 3;
constexpr char kScoreFile[] = "/proc/self/oom_score_adj";
constexpr char kShimScore[] = "-900";
// The first character of the error text from a child that could not execute its program. This
// character states the side at fault.
constexpr char kNodeAtFault = 'n';
constexpr char kJobAtFault = 'j';

// Errors are ignored, because lowering the score needs a privilege that the worker may lack.
void WriteScore(const std::string& score) {
  const UniqueFd fd(open(kScoreFile, O_WRONLY | O_CLOEXEC));
  if (fd.valid() && write(fd.get(), score.data(), score.size()) < 0) errno = 0;
}

// Reads one byte from the other end of the socket. Returns false at end of file.
bool ReadByte(int fd) {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(fd, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

void WriteByte(int fd, char byte) {
  while (send(fd, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// Signals that are ignored or blocked stay so after execve. Reset them, so that a rank does not
// inherit the shim's settings.
void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) std::ignore = ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::string CauseOf(int error) {
  if (error == ENOEXEC) return "the kernel cannot execute this file (a script needs a #! line)";
  return strerror(error);
}

// Returns false if the error is caused by the program's path, file or arguments. All other errors
// are the node's fault: no memory, no free process or descriptor, an unreadable disk.
bool BlamesNode(int error) {
  switch (error) {
    case ENOENT:
    case EACCES:
    case EPERM:
    case ENOEXEC:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case E2BIG:
    case EINVAL:
      return false;
    default:
      return true;
  }
}

// Returns the failure of a call that has just set errno.
StartFailure FailureOf(const std::string& action) {
  const int error = errno;
  return {absl::StrCat(action, ": ", CauseOf(error)), BlamesNode(error)};
}

// Replaces this process by the rank's program. Returns only on failure.
StartFailure Execute(const RankCommand& command) {
  if (chdir(command.working_directory.c_str()) != 0) {
    return FailureOf("cannot enter working directory " + command.working_directory);
  }
  const absl::StatusOr<std::string> program =
      FindProgram(command.argv.front(), command.environment);
  if (!program.ok()) return {Text(program.status()), false};
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) {
    variables.push_back(absl::StrCat(name, "=", value));
  }
  if (!command.mark.empty()) {
    variables.push_back(absl::StrCat(kRankMarkVariable, "=", command.mark, ":", getpid()));
  }
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::vector<char*> argv;
  for (const std::string& argument : command.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  execve(program->c_str(), argv.data(), environment.data());
  return FailureOf("cannot execute " + *program);
}

// Sets up the rank's stdin, stdout and stderr and closes all other descriptors except the channel.
// Returns false on failure. Any source descriptor may have one of the target numbers, so all
// sources are first moved to higher numbers.
bool ArrangeDescriptors(int channel, const StandardFds& fds) {
  const bool has_input = fds.input != StandardFds::kNullInput;
  const int input = has_input ? fds.input : open("/dev/null", O_RDWR | O_CLOEXEC);
  const std::array<int, 4> low = {input, fds.output, fds.error, channel};
  std::array<int, 4> high = {};
  for (std::size_t i = 0; i < low.size(); ++i) {
    high[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
    if (high[i] < 0) return false;
  }
  if (dup2(high[0], STDIN_FILENO) < 0 || dup2(high[1], STDOUT_FILENO) < 0 ||
      dup2(high[2], STDERR_FILENO) < 0 || dup3(high[3], kChannelFd, O_CLOEXEC) < 0) {
    return false;
  }
  closefrom(kChannelFd + 1);
  return !fds.terminal || ioctl(STDIN_FILENO, TIOCSCTTY, 0) == 0;
}

[[noreturn]] void RunChild(const RankCommand& command, int channel, const StandardFds& fds,
                           const std::string& memory_killer_score, AfterParent after_parent) {
  // Reset signals first. With the shim's settings, a signal could not end a rank that waits for
  // Release.
  ResetSignals();
  if (setsid() < 0 || !ArrangeDescriptors(channel, fds)) _exit(kSpawnErrorExit);
  if (after_parent == AfterParent::kIsKilled) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!memory_killer_score.empty()) WriteScore(memory_killer_score);
  LeaveProcessesForWorker();
  WriteByte(kChannelFd, 'r');
  if (!ReadByte(kChannelFd)) _exit(kSpawnErrorExit);
  const StartFailure failure = Execute(command);
  const std::string text = (failure.node_at_fault ? kNodeAtFault : kJobAtFault) + failure.cause;
  if (send(kChannelFd, text.data(), text.size(), MSG_NOSIGNAL) < 0) errno = 0;
  _exit(kSpawnErrorExit);
}

}  // namespace

absl::StatusOr<HeldRank> HeldRank::Fork(const RankCommand& command, const StandardFds& fds,
                                        const std::string& memory_killer_score,
                                        AfterParent after_parent) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return ErrnoStatus(errno, "cannot make", "a socket pair");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "cannot fork", "the rank");
  if (pid == 0) RunChild(command, theirs.get(), fds, memory_killer_score, after_parent);
  theirs.Reset();
  HeldRank rank(pid, std::move(ours));
  if (!ReadByte(rank.channel_.get())) {
    return absl::ResourceExhaustedError("the forked rank could not set up its file descriptors");
  }
  return rank;
}

std::optional<StartFailure> HeldRank::Release() {
  WriteByte(channel_.get(), 'g');
  std::string text;
  char buffer[1024];
  for (;;) {
    const ssize_t count = read(channel_.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  if (text.empty()) return std::nullopt;
  return StartFailure{text.substr(1), text.front() == kNodeAtFault};
}

std::string LowerMemoryKillerScore() {
  const absl::StatusOr<std::string> score = ReadSmallFile(kScoreFile);
  WriteScore(kShimScore);
  return score.value_or("");
}

}  // namespace trainyard::worker
