#include "controller/hooks/hook_command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/contract/unique_fd.h"
#include "proto/support/durable_file.h"

namespace trainyard::controller {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{10};

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentOf(const HookNotice& notice) {
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) words.emplace_back(*word);
  words.push_back(absl::StrCat("TRAINYARD_EVENT=", notice.kind));
  words.push_back(absl::StrCat("TRAINYARD_EVENT_ID=", notice.id));
  return words;
}

// Starts the program in a new process group with `input` as its standard input; 0 or an errno
// value.
int Spawn(const HookRule& rule, const HookNotice& notice, int input, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = rule.command;
  std::vector<std::string> environment = EnvironmentOf(notice);
  const int error = posix_spawn(&pid, words.front().c_str(), &actions, &attributes,
                                Pointers(words).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Hands over what the program takes now. A program that does not read its input is none the worse.
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
    return absl::UnavailableError(absl::StrCat("it ended with code ", WEXITSTATUS(status)));
  }
  return absl::UnavailableError(absl::StrCat("it was ended by signal ", WTERMSIG(status)));
}

absl::Status WaitFor(pid_t pid, const HookRule& rule, std::string_view body, UniqueFd input,
                     const CallCanceller& canceller) {
  const auto deadline = steady_clock::now() + rule.timeout;
  while (true) {
    if (input.valid()) Feed(body, input);
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      kill(-pid, SIGKILL);  // Children that it left behind.
      return ResultOf(status);
    }
    const bool is_late = steady_clock::now() >= deadline;
    if (is_late || canceller.cancelled()) {
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      return is_late ? absl::DeadlineExceededError("it did not end in time and was killed")
                     : absl::CancelledError("the controller stops");
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

absl::Status RunHookCommand(const HookRule& rule, const HookNotice& notice,
                            CallCanceller& canceller) {
  if (canceller.cancelled()) return absl::CancelledError("the controller stops");
  int ends[2];
  // A socket and no pipe: writing to a program that has ended must raise no signal.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return ErrnoStatus(errno, "cannot start", rule.command.front());
  }
  UniqueFd ours(ends[0]), theirs(ends[1]);
  pid_t pid = 0;
  if (const int error = Spawn(rule, notice, theirs.get(), pid); error != 0) {
    return ErrnoStatus(error, "cannot start", rule.command.front());
  }
  theirs.Reset();
  return WaitFor(pid, rule, notice.body, std::move(ours), canceller);
}

}  // namespace trainyard::controller
