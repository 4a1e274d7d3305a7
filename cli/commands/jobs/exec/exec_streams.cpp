#include "cli/commands/jobs/exec/exec_streams.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>

#include "cli/process/raw_terminal.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kInputPieceBytes = 16 << 10;

// Returns false if the reader of the output has gone.
bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    if (count >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    // Another process has made the terminal non-blocking.
    pollfd writable = {fd, POLLOUT, 0};
    poll(&writable, 1, -1);
  }
  return true;
}

}  // namespace

ExecInputThread::ExecInputThread(ExecCall& call, const Options& options)
    : call_(call),
      options_(options),
      signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

ExecInputThread::~ExecInputThread() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void ExecInputThread::Run() {
  std::array<pollfd, 3> fds = {{{options_.without_input ? -1 : STDIN_FILENO, POLLIN, 0},
                                {signals_.fd(), POLLIN, 0},
                                {stop_.get(), POLLIN, 0}}};
  if (options_.without_input) SendEnd();
  for (;;) {
    if (poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[2].revents != 0) return;
    if (fds[1].revents != 0) SendSignals();
    if (fds[0].revents != 0 && !SendInput()) fds[0].fd = -1;
  }
}

bool ExecInputThread::SendInput() {
  std::array<char, kInputPieceBytes> buffer;
  const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (count <= 0) {
    SendEnd();
    return false;
  }
  v1::ExecInput input;
  input.set_data(buffer.data(), static_cast<std::size_t>(count));
  return call_.Write(input);
}

bool ExecInputThread::SendEnd() {
  v1::ExecInput input;
  input.set_end_of_input(true);
  return call_.Write(input);
}

void ExecInputThread::SendSignals() {
  while (const std::optional<int> signal = signals_.Next()) {
    v1::ExecInput input;
    if (*signal == SIGWINCH) {
      if (!options_.terminal) continue;
      const TerminalSides sides = SidesOfTerminal(STDIN_FILENO);
      input.mutable_resize()->set_rows(sides.rows);
      input.mutable_resize()->set_columns(sides.columns);
    } else if (options_.terminal || ++received_ > 1) {
      interrupted_ = true;
      call_.Cancel();
      continue;
    } else {
      input.set_signal(*signal);
    }
    call_.Write(input);
  }
}

std::optional<v1::ExecEnded> CopyExecOutput(ExecCall& call) {
  std::optional<v1::ExecEnded> ended;
  v1::ExecOutput output;
  while (call.Read(output)) {
    if (output.has_ended()) ended = output.ended();
    const bool written = WriteAll(STDOUT_FILENO, output.standard_output()) &&
                         WriteAll(STDERR_FILENO, output.standard_error());
    if (!written) call.Cancel();
  }
  return ended;
}

}  // namespace trainyard::cli
