#include "cli/dev/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::milliseconds kExitPollInterval{20};
constexpr std::streamoff kTailBytes = 8192;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

// In the child, between fork and exec: async-signal-safe calls only. Never returns.
[[noreturn]] void RunChild(char* const* argv, int log_fd, int error_fd, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // The parent ended before the line above.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  dup2(log_fd, STDOUT_FILENO);
  dup2(log_fd, STDERR_FILENO);
  execv(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_fd, &error, sizeof(error));
  _exit(127);
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(std::string name, const std::string& program,
                                                 const std::vector<std::string>& arguments,
                                                 std::string log_path) {
  const int log_fd = open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_fd < 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write ", log_path, ": ", std::strerror(errno)));
  }
  Pipe failure;
  if (pipe2(&failure.read_end, O_CLOEXEC) != 0) {
    close(log_fd);
    return absl::ResourceExhaustedError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  }
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = PointersTo(words);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(argv.data(), log_fd, failure.write_end, parent);
  const int fork_error = errno;
  close(log_fd);
  close(failure.write_end);
  int error = 0;
  const ssize_t got = pid < 0 ? 0 : read(failure.read_end, &error, sizeof(error));
  close(failure.read_end);
  if (pid < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start ", program, ": ", std::strerror(fork_error)));
  }
  if (got > 0) {
    waitpid(pid, nullptr, 0);
    return absl::NotFoundError(absl::StrCat("cannot start ", program, ": ", std::strerror(error)));
  }
  return ChildProcess(std::move(name), std::move(log_path), pid);
}

std::optional<std::string> ChildProcess::Ended() {
  if (ended_.has_value()) return ended_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  ended_ = WIFSIGNALED(status) ? absl::StrCat("ended by signal ", WTERMSIG(status))
                               : absl::StrCat("exited with ", WEXITSTATUS(status));
  return ended_;
}

void ChildProcess::Signal(int signal) {
  if (!Ended().has_value()) kill(pid_, signal);
}

bool ChildProcess::WaitFor(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!Ended().has_value()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kExitPollInterval);
  }
  return true;
}

std::string LastLines(const std::string& path, int lines) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTailBytes));
  std::string text(static_cast<std::size_t>(std::min(size, kTailBytes)), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t start = text.size();
  for (int i = 0; i < lines && start != 0 && start != std::string::npos; ++i) {
    start = text.rfind('\n', start - 1);
  }
  return start == std::string::npos || start == 0 ? text : text.substr(start + 1);
}

}  // namespace trainyard::cli
