#include "cli/process/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::milliseconds kExitPollInterval{20};
constexpr std::streamoff kTailBytes = 8192;  // LastLines reads at most this many bytes.

// The ends of a pipe, in the order that pipe2 uses: read end first.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

// Returns the errno value that RunChild wrote, or nullopt if exec succeeded and thereby closed the
// pipe.
std::optional<int> ReadExecError(int read_end) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(read_end, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  return got < 0 ? errno : error;
}

// Runs in the child between fork and exec, and therefore makes only async-signal-safe calls. If
// exec fails, writes the errno value to `error_fd`.
[[noreturn]] void RunChild(char* const* argv, int log_fd, int error_fd, pid_t parent) {
  // Puts the child into its own group, so that Ctrl-C reaches only the parent.
  setpgid(0, 0);
  // Ends the child when its parent ends, even if the parent is killed.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // The parent may have ended before the previous line.
  // Resets signals. Otherwise exec would keep the signals that the parent ignores or blocks.
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaction(signal, &default_action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
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
  // If exec succeeds, it closes the write end (O_CLOEXEC), and the read below returns 0 bytes.
  Pipe exec_error;
  if (pipe2(&exec_error.read_end, O_CLOEXEC) != 0) {
    close(log_fd);
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot create a pipe: ", std::strerror(errno)));
  }
  std::vector<std::string> argv_texts = {program};
  argv_texts.insert(argv_texts.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = PointersTo(argv_texts);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(argv.data(), log_fd, exec_error.write_end, parent);
  const int fork_error = errno;
  close(log_fd);
  close(exec_error.write_end);
  const std::optional<int> error = pid < 0 ? std::nullopt : ReadExecError(exec_error.read_end);
  close(exec_error.read_end);
  if (pid < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start ", program, ": ", std::strerror(fork_error)));
  }
  if (error.has_value()) {
    waitpid(pid, nullptr, 0);
    return absl::ErrnoToStatus(*error, absl::StrCat("cannot start ", program));
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
  // `start` is where the last i lines begin, and text[start - 1] is the line end before them.
  std::size_t start = text.size() + 1;
  for (int i = 0; i < lines && start != 0; ++i) {
    const std::size_t end = start < 2 ? std::string::npos : text.rfind('\n', start - 2);
    start = end == std::string::npos ? 0 : end + 1;
  }
  return start > text.size() ? "" : text.substr(start);
}

}  // namespace trainyard::cli
