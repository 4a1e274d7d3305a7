#include "worker/environment/captured_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/process/spawn.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "worker/process/program_path.h"

namespace trainyard::worker {
namespace {

using std::chrono::steady_clock;

// Above the standard descriptors, so that a source is no target of the spawn.
constexpr int kPipeFd = 10;
constexpr int kSignalExitCodes = 128;

// Reads until the end of the output. Returns the reason to kill the program, or OK.
absl::Status ReadOutput(int fd, steady_clock::time_point deadline, std::size_t max_bytes,
                        std::string& text) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    pollfd waiter = {fd, POLLIN, 0};
    const int count = left.count() <= 0 ? 0 : poll(&waiter, 1, static_cast<int>(left.count()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::DeadlineExceededError("it did not end in time");
    std::array<char, 4096> buffer;
    const ssize_t bytes = read(fd, buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return absl::OkStatus();
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (text.size() > max_bytes) return absl::ResourceExhaustedError("it printed too much");
  }
}

// Waits for the exit of a program that has closed its output. Returns the reason to kill it, or OK.
absl::Status AwaitExitUntil(pid_t pid, steady_clock::time_point deadline) {
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return ErrnoStatus(errno, "cannot watch", "its process");
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    pollfd waiter = {process.get(), POLLIN, 0};
    const int limit = static_cast<int>(std::max<int64_t>(left.count(), 0));
    const int count = poll(&waiter, 1, limit);
    if (count < 0 && errno == EINTR) continue;
    return count > 0 ? absl::OkStatus() : absl::DeadlineExceededError("it did not end in time");
  }
}

}  // namespace

Variables OwnVariables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

std::vector<std::string> VariableTexts(const Variables& variables) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables) texts.push_back(absl::StrCat(name, "=", value));
  return texts;
}

int ExitCodeOfStatus(int status) {
  return WIFSIGNALED(status) ? kSignalExitCodes + WTERMSIG(status) : WEXITSTATUS(status);
}

absl::StatusOr<CapturedOutput> Capture(const std::vector<std::string>& command,
                                       const Variables& variables, std::chrono::milliseconds limit,
                                       std::size_t max_bytes, ErrorOutput errors) {
  std::vector<std::string> words = command;
  TRAINYARD_ASSIGN_OR_RETURN(words.front(), FindProgram(command.front(), variables));
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make", "a pipe");
  const UniqueFd output(ends[0]);
  UniqueFd low_input(ends[1]);
  UniqueFd input(fcntl(low_input.get(), F_DUPFD_CLOEXEC, kPipeFd));
  if (!input.valid()) return ErrnoStatus(errno, "cannot duplicate", "a descriptor");
  std::vector<SpawnFd> fds = {{.number = STDIN_FILENO, .source = kNullDevice},
                              {.number = STDOUT_FILENO, .source = input.get()}};
  if (errors == ErrorOutput::kDiscarded) {
    fds.push_back({.number = STDERR_FILENO, .source = kNullDevice});
  }
  pid_t pid = 0;
  const int error = Spawn({.command = words,
                           .environment = VariableTexts(variables),
                           .fds = fds,
                           .reset_signals = true,
                           .new_group = true},
                          pid);
  if (error != 0) return ErrnoStatus(error, "cannot start", words.front());
  // The output ends when the program closes the last copy of this end.
  input.Reset();
  low_input.Reset();
  CapturedOutput captured;
  const steady_clock::time_point deadline = steady_clock::now() + limit;
  absl::Status ended = ReadOutput(output.get(), deadline, max_bytes, captured.text);
  if (ended.ok()) ended = AwaitExitUntil(pid, deadline);
  if (!ended.ok()) kill(-pid, SIGKILL);
  const int status = AwaitExit(pid);
  if (!ended.ok()) {
    return absl::Status(ended.code(), absl::StrCat(command.front(), ": ", ended.message()));
  }
  captured.exit_code = ExitCodeOfStatus(status);
  return captured;
}

}  // namespace trainyard::worker
