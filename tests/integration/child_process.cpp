#include "tests/integration/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace trainyard::test {
namespace {

constexpr std::chrono::milliseconds kPollInterval(10);

[[noreturn]] void ExecChild(const std::vector<std::string>& arguments, int out, int error) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  ExecProgram(arguments);
}

pid_t Spawn(const std::vector<std::string>& arguments, const std::string& out_path,
            const std::string& error_path) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  const int out = open(out_path.c_str(), flags, 0600);
  const int error = open(error_path.c_str(), flags, 0600);
  const pid_t pid = fork();
  if (pid == 0) ExecChild(arguments, out, error);
  close(out);
  close(error);
  return pid;
}

}  // namespace

void ExecProgram(const std::vector<std::string>& arguments) {
  close_range(3, ~0U, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

bool Eventually(const std::function<bool()>& condition, Seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::string& log_path)
    : pid_(Spawn(arguments, log_path, log_path)) {}

ChildProcess::~ChildProcess() {
  if (!Running()) return;
  Signal(SIGKILL);
  Wait();
}

void ChildProcess::Signal(int signal) const {
  if (!status_.has_value()) kill(pid_, signal);
}

bool ChildProcess::Running() {
  if (status_.has_value()) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

std::optional<int> ChildProcess::Wait(Seconds deadline) {
  Eventually([this] { return !Running(); }, deadline);
  return status_;
}

CommandResult RunCommand(const std::vector<std::string>& arguments, Seconds deadline) {
  const TemporaryDirectory directory;
  const std::string out = directory.path() + "/out";
  const std::string error = directory.path() + "/error";
  const pid_t pid = Spawn(arguments, out, error);
  int status = 0;
  const bool ended = Eventually([&] { return waitpid(pid, &status, WNOHANG) == pid; }, deadline);
  CommandResult result;
  if (ended) {
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  } else {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  result.output = ReadFile(out);
  result.error = ReadFile(error);
  return result;
}

}  // namespace trainyard::test
