#include "cli/process/raw_terminal.h"

#include <sys/ioctl.h>
#include <termios.h>

#include <atomic>
#include <csignal>

namespace trainyard::cli {
namespace {

// Signals of a crash. Their default action follows the restoration.
constexpr int kCrashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

// Read by the signal handler. raw_fd is -1 while no terminal is in raw mode; `former` is valid
// otherwise.
std::atomic<int> raw_fd{-1};
termios former;

// tcsetattr is async-signal-safe.
void Restore() {
  const int fd = raw_fd.exchange(-1);
  if (fd >= 0) tcsetattr(fd, TCSADRAIN, &former);
}

void RestoreAndRepeat(int signal) {
  const int fd = raw_fd.exchange(-1);
  // Output that waits for the terminal must not delay the end.
  if (fd >= 0) tcsetattr(fd, TCSANOW, &former);
  std::raise(signal);
}

}  // namespace

TerminalSides SidesOfTerminal(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

RawTerminal::RawTerminal(int fd) {
  if (tcgetattr(fd, &former) != 0) return;
  raw_fd = fd;
  struct sigaction action {};
  action.sa_handler = RestoreAndRepeat;
  action.sa_flags = SA_RESETHAND;
  for (const int signal : kCrashes) sigaction(signal, &action, nullptr);
  termios raw = former;
  cfmakeraw(&raw);
  tcsetattr(fd, TCSADRAIN, &raw);
}

RawTerminal::~RawTerminal() {
  Restore();
  for (const int signal : kCrashes) std::signal(signal, SIG_DFL);
}

}  // namespace trainyard::cli
