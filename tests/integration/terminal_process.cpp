#include "tests/integration/terminal_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "gtest/gtest.h"

namespace trainyard::test {
namespace {

[[noreturn]] void RunOnTerminal(const std::vector<std::string>& arguments, int terminal) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  ioctl(terminal, TIOCSCTTY, 0);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(terminal, fd);
  ExecProgram(arguments);
}

}  // namespace

TerminalProcess::TerminalProcess(const std::vector<std::string>& arguments)
    : terminal_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  grantpt(terminal_.get());
  unlockpt(terminal_.get());
  std::array<char, 128> name = {};
  EXPECT_EQ(ptsname_r(terminal_.get(), name.data(), name.size()), 0);
  other_end_.Reset(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  Resize(30, 100);
  pid_ = fork();
  if (pid_ == 0) RunOnTerminal(arguments, other_end_.get());
}

TerminalProcess::~TerminalProcess() {
  if (status_.has_value()) return;
  Signal(SIGKILL);
  Wait();
}

void TerminalProcess::Type(const std::string& keys) const {
  EXPECT_EQ(write(terminal_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void TerminalProcess::Read() {
  std::array<char, 4096> buffer;
  pollfd readable = {terminal_.get(), POLLIN, 0};
  while (poll(&readable, 1, 0) > 0) {
    const ssize_t count = read(terminal_.get(), buffer.data(), buffer.size());
    if (count <= 0) return;
    output_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

bool TerminalProcess::WaitForOutput(const std::string& text, Seconds deadline) {
  return Eventually(
      [&] {
        Read();
        const std::size_t found = output_.find(text, searched_);
        if (found == std::string::npos) return false;
        searched_ = found + text.size();
        return true;
      },
      deadline);
}

void TerminalProcess::Resize(int rows, int columns) const {
  winsize size = {};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  ioctl(terminal_.get(), TIOCSWINSZ, &size);
}

void TerminalProcess::Signal(int signal) const { kill(pid_, signal); }

bool TerminalProcess::IsCooked() const {
  termios modes = {};
  tcgetattr(other_end_.get(), &modes);
  return (modes.c_lflag & ICANON) != 0 && (modes.c_lflag & ECHO) != 0 &&
         (modes.c_oflag & OPOST) != 0;
}

std::optional<int> TerminalProcess::Wait(Seconds deadline) {
  Eventually(
      [this] {
        Read();
        int status = 0;
        if (status_.has_value() || waitpid(pid_, &status, WNOHANG) != pid_) {
          return status_.has_value();
        }
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return true;
      },
      deadline);
  return status_;
}

}  // namespace trainyard::test
