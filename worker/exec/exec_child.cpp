#include "worker/exec/exec_child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {
namespace {

// The ends of a pipe or of a terminal.
struct Ends {
  UniqueFd ours;
  UniqueFd theirs;
};

absl::Status SetNonBlocking(const UniqueFd& fd) {
  if (fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot set up", "a pipe");
}

// If `reads` is true, this process reads from the pipe, else it writes to the pipe.
absl::StatusOr<Ends> OpenPipe(bool reads) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make", "a pipe");
  Ends ends = {UniqueFd(fds[reads ? 0 : 1]), UniqueFd(fds[reads ? 1 : 0])};
  TRAINYARD_RETURN_IF_ERROR(SetNonBlocking(ends.ours));
  return ends;
}

absl::Status SetSize(int terminal, const TerminalSides& sides) {
  winsize size = {};
  size.ws_row = static_cast<unsigned short>(sides.rows);
  size.ws_col = static_cast<unsigned short>(sides.columns);
  if (ioctl(terminal, TIOCSWINSZ, &size) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot resize", "a terminal");
}

absl::StatusOr<Ends> OpenTerminal(const TerminalSides& sides) {
  Ends ends;
  ends.ours.Reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 128> name = {};
  if (!ends.ours.valid() || grantpt(ends.ours.get()) != 0 || unlockpt(ends.ours.get()) != 0 ||
      ptsname_r(ends.ours.get(), name.data(), name.size()) != 0) {
    return ErrnoStatus(errno, "cannot open", "a terminal");
  }
  ends.theirs.Reset(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ends.theirs.valid()) return ErrnoStatus(errno, "cannot open", name.data());
  TRAINYARD_RETURN_IF_ERROR(SetSize(ends.ours.get(), sides));
  TRAINYARD_RETURN_IF_ERROR(SetNonBlocking(ends.ours));
  return ends;
}

}  // namespace

absl::StatusOr<ExecChild> ExecChild::Fork(const RankCommand& command,
                                          const std::optional<TerminalSides>& terminal) {
  if (terminal.has_value()) {
    TRAINYARD_ASSIGN_OR_RETURN(Ends ends, OpenTerminal(*terminal));
    const int fd = ends.theirs.get();
    TRAINYARD_ASSIGN_OR_RETURN(
        HeldRank held, HeldRank::Fork(command, {fd, fd, fd, true}, "", AfterParent::kIsKilled));
    ExecChild child(std::move(held));
    child.has_terminal_ = true;
    child.input_.Reset(fcntl(ends.ours.get(), F_DUPFD_CLOEXEC, 0));
    child.output_ = std::move(ends.ours);
    return child;
  }
  TRAINYARD_ASSIGN_OR_RETURN(Ends input, OpenPipe(false));
  TRAINYARD_ASSIGN_OR_RETURN(Ends output, OpenPipe(true));
  TRAINYARD_ASSIGN_OR_RETURN(Ends error, OpenPipe(true));
  const StandardFds fds = {input.theirs.get(), output.theirs.get(), error.theirs.get()};
  TRAINYARD_ASSIGN_OR_RETURN(HeldRank held,
                             HeldRank::Fork(command, fds, "", AfterParent::kIsKilled));
  ExecChild child(std::move(held));
  child.input_ = std::move(input.ours);
  child.output_ = std::move(output.ours);
  child.error_ = std::move(error.ours);
  return child;
}

void ExecChild::CloseInput() {
  if (!has_terminal_) input_.Reset();
}

void ExecChild::Resize(const TerminalSides& sides) const {
  // An error means that the command has closed the terminal.
  if (has_terminal_) SetSize(output_.get(), sides).IgnoreError();
}

void ExecChild::Signal(int signal) const { kill(-pid(), signal); }

void ExecChild::Terminate() const {
  // Interactive shells ignore SIGTERM, and suspended processes need SIGCONT first.
  for (const int signal : {has_terminal_ ? SIGHUP : SIGTERM, SIGTERM, SIGCONT}) Signal(signal);
  for (const pid_t orphan : ChildrenOf(getpid())) {
    if (orphan != pid()) kill(orphan, SIGTERM);
  }
}

}  // namespace trainyard::worker
