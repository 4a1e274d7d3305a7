#include "controller/hooks/hook_command.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/process/spawn.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{10};
// The maximum wait after SIGTERM, and again after SIGKILL. A process that survives both is stuck in
// the kernel.
constexpr std::chrono::seconds kTermGrace{2};
constexpr std::chrono::seconds kKillGrace{1};
constexpr char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Returns the program's environment. It contains only three of the controller's variables, because
// other variables may contain secrets.
std::vector<std::string> EnvironmentOf(const HookNotice& notice) {
  std::vector<std::string> words;
  const char* path = getenv("PATH");
  words.push_back(absl::StrCat("PATH=", path == nullptr ? kDefaultPath : path));
  for (const char* name : {"HOME", "LANG"}) {
    if (const char* value = getenv(name)) words.push_back(absl::StrCat(name, "=", value));
  }
  words.push_back(absl::StrCat("TRAINYARD_EVENT=", notice.kind));
  words.push_back(absl::StrCat("TRAINYARD_EVENT_ID=", notice.id));
  return words;
}

// Starts the program in a new process group with `input` as its standard input.
absl::StatusOr<pid_t> Start(const HookRule& rule, const HookNotice& notice, const UniqueFd& input) {
  pid_t pid = 0;
  const int error = Spawn({.command = rule.command,
                           .environment = EnvironmentOf(notice),
                           .fds = {{.number = STDIN_FILENO, .source = input.get()},
                                   {.number = STDOUT_FILENO, .source = kNullDevice},
                                   {.number = STDERR_FILENO, .source = kNullDevice}},
                           .close_other_fds = true,
                           .reset_signals = true,
                           .new_group = true},
                          pid);
  if (error != 0) return ErrnoStatus(error, "cannot start", rule.command.front());
  return pid;
}

// Sends as much of the body as the socket accepts now. Closes the socket at the end of the body, or
// if the program has closed its input.
void Feed(std::string_view& body, UniqueFd& input) {
  while (!body.empty()) {
    const ssize_t sent = send(input.get(), body.data(), body.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) body = {};
    if (sent > 0) body.remove_prefix(static_cast<std::size_t>(sent));
  }
  input.Reset();
}

absl::Status ResultOf(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFEXITED(status)) {
    return absl::UnavailableError(
        absl::StrCat("the command exited with code ", WEXITSTATUS(status)));
  }
  return absl::UnavailableError(absl::StrCat("the command was ended by signal ", WTERMSIG(status)));
}

// Waits until the process ends, kills the rest of its process group, and returns its status.
// Returns nullopt at the deadline, or as soon as `is_over` returns true.
std::optional<int> AwaitEnd(pid_t pid, steady_clock::time_point deadline,
                            const std::function<bool()>& is_over) {
  while (true) {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == pid) {
      kill(-pid, SIGKILL);  // Kill before reaping, because reaping frees the pid for reuse.
      int status = 0;
      waitpid(pid, &status, WNOHANG);
      return status;
    }
    if (steady_clock::now() >= deadline || is_over()) return std::nullopt;
    std::this_thread::sleep_for(kLook);
  }
}

// Ends the process group with SIGTERM and then SIGKILL. Returns false if the process survives both.
bool End(pid_t pid) {
  const auto never = [] { return false; };
  kill(-pid, SIGTERM);
  if (AwaitEnd(pid, steady_clock::now() + kTermGrace, never).has_value()) return true;
  kill(-pid, SIGKILL);
  return AwaitEnd(pid, steady_clock::now() + kKillGrace, never).has_value();
}

absl::Status WaitFor(pid_t pid, const HookRule& rule, std::string_view body, UniqueFd input,
                     HookProcess& process, const CallCanceller& canceller) {
  const auto status = AwaitEnd(pid, steady_clock::now() + rule.timeout, [&] {
    if (input.valid()) Feed(body, input);
    return canceller.cancelled();
  });
  if (status.has_value()) return ResultOf(*status);
  const bool has_ended = End(pid);
  if (!has_ended) process.stuck_pid = pid;
  const std::string left =
      has_ended ? ""
                : absl::StrCat("; process ", pid, " survived SIGKILL and is stuck in the kernel");
  return canceller.cancelled()
             ? absl::CancelledError(absl::StrCat("the controller is stopping", left))
             : absl::DeadlineExceededError(
                   absl::StrCat("the command did not exit in time and was killed", left));
}

// Returns an error while a process of an earlier call still exists. Otherwise each retry could add
// another stuck process.
absl::Status ReapStuck(HookProcess& process) {
  if (process.stuck_pid == 0) return absl::OkStatus();
  if (waitpid(process.stuck_pid, nullptr, WNOHANG) == 0) {
    return absl::UnavailableError(
        absl::StrCat("process ", process.stuck_pid, " of an earlier call is stuck in the kernel; ",
                     "the hook is not called again until this process ends. Check the disks and "
                     "file servers that the process uses"));
  }
  process.stuck_pid = 0;
  return absl::OkStatus();
}

}  // namespace

absl::Status RunHookCommand(const HookRule& rule, const HookNotice& notice, HookProcess& process,
                            CallCanceller& canceller) {
  if (canceller.cancelled()) return absl::CancelledError("the controller is stopping");
  TRAINYARD_RETURN_IF_ERROR(ReapStuck(process));
  int ends[2];
  // Use a socket instead of a pipe: if the program has ended, a write to a pipe raises SIGPIPE, but
  // send() with MSG_NOSIGNAL does not.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return ErrnoStatus(errno, "cannot start", rule.command.front());
  }
  UniqueFd ours(ends[0]), theirs(ends[1]);
  TRAINYARD_ASSIGN_OR_RETURN(const pid_t pid, Start(rule, notice, theirs));
  theirs.Reset();
  return WaitFor(pid, rule, notice.body, std::move(ours), process, canceller);
}

}  // namespace trainyard::controller
