#include "worker/exec/exec_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "proto/contract/limits.h"
#include "worker/process/descendants.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;

// From SIGTERM to SIGKILL.
constexpr milliseconds kGrace{3000};
// The limit on the end of killed processes, which may hang in the kernel.
constexpr milliseconds kKillLimit{2000};
// After the end of the command, output is complete once none has arrived for this time.
constexpr milliseconds kLastOutput{200};
// The limit on sending the last output and the result if the worker has ended the session.
constexpr milliseconds kSendLimit{5000};
// If SIGKILL ended the command, the worker may state the reason within this time.
constexpr milliseconds kReasonLimit{1500};
constexpr std::size_t kReadBytes = 32 << 10;
// The time between two looks at the processes that the command has left.
constexpr milliseconds kLookEvery{20};
constexpr char kWorkerStopped[] = "the worker of the node has stopped";

}  // namespace

ExecSession::ExecSession(ExecChild& child, ExecStream& stream, int lifeline)
    : child_(child), stream_(stream), lifeline_(lifeline), stop_(eventfd(0, EFD_CLOEXEC)) {}

void ExecSession::Run() {
  std::thread reader([this] { ReadInput(); });
  std::thread lifeline([this] { WatchLifeline(); });
  std::thread waiter([this] { AwaitExit(); });
  const std::optional<StartFailure> failure = child_.Release();
  Set(released_);
  std::thread writer([this] { WriteOutput(); });
  EndProcesses();
  AwaitOutput();
  v1::ExecEnded ended = Result();
  if (failure.has_value()) {
    ended.set_not_started(true);
    ended.set_problem(failure->cause);
  }
  eventfd_write(stop_.get(), 1);
  Send(ended);
  for (std::thread* thread : {&reader, &lifeline, &waiter, &writer}) thread->join();
}

void ExecSession::Set(bool& flag) {
  const std::lock_guard lock(mutex_);
  flag = true;
  changed_.notify_all();
}

bool ExecSession::WaitFor(const bool& flag, milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return flag; });
}

void ExecSession::Close(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(closing_, true)) return;
  reason_ = reason;
  changed_.notify_all();
  // The command may wait for a file server before its first instruction.
  if (!released_) child_.Signal(SIGKILL);
}

void ExecSession::ReadInput() {
  v1::ExecInput input;
  while (stream_.Read(input)) Handle(input);
  Close("");
  Set(input_ended_);
}

void ExecSession::Handle(const v1::ExecInput& input) {
  switch (input.kind_case()) {
    case v1::ExecInput::kData:
      return WriteInput(input.data());
    case v1::ExecInput::kEndOfInput:
      return child_.CloseInput();
    case v1::ExecInput::kResize:
      return child_.Resize({input.resize().rows(), input.resize().columns()});
    case v1::ExecInput::kSignal:
      return PassSignal(input.signal());
    default:
      return;
  }
}

void ExecSession::PassSignal(int signal) {
  const std::lock_guard lock(mutex_);
  // The process group of a reaped command may belong to another program.
  if (reaped_) return;
  for (const int known : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    if (known == signal) child_.Signal(signal);
  }
}

void ExecSession::WriteInput(const std::string& data) {
  std::string_view rest = data;
  while (!rest.empty() && child_.input() >= 0) {
    const ssize_t count = write(child_.input(), rest.data(), rest.size());
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    if (count >= 0 || errno == EINTR) continue;
    // The command no longer reads: the input is lost, as in a local pipe.
    if (errno != EAGAIN) return child_.CloseInput();
    std::array<pollfd, 2> fds = {{{child_.input(), POLLOUT, 0}, {stop_.get(), POLLIN, 0}}};
    poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
  }
}

void ExecSession::WriteOutput() {
  std::array<pollfd, 2> fds = {{{child_.output(), POLLIN, 0}, {child_.error(), POLLIN, 0}}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const int ready = poll(fds.data(), fds.size(), static_cast<int>(kLastOutput.count()));
    // A process that hangs in the kernel may keep the descriptor open.
    if (ready == 0 && WaitFor(processes_ended_, milliseconds(0))) break;
    if (ready <= 0) continue;
    for (pollfd& fd : fds) {
      if (fd.revents != 0 && !Forward(fd.fd, &fd == &fds[1])) fd.fd = -1;
    }
  }
  Set(output_ended_);
}

bool ExecSession::Forward(int fd, bool is_error) {
  std::array<char, kReadBytes> buffer;
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  v1::ExecOutput output;
  std::string& bytes =
      is_error ? *output.mutable_standard_error() : *output.mutable_standard_output();
  bytes.assign(buffer.data(), static_cast<std::size_t>(count));
  return stream_.Write(output);
}

void ExecSession::WatchLifeline() {
  std::array<pollfd, 2> fds = {{{lifeline_, POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (fds[0].revents == 0 && fds[1].revents == 0) poll(fds.data(), fds.size(), -1);
  if (fds[0].revents == 0) return;
  std::array<char, kMaxReasonBytes> text;
  const ssize_t count = read(lifeline_, text.data(), text.size());
  const std::string reason(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  Close(reason.empty() ? kWorkerStopped : reason);
}

void ExecSession::AwaitExit() {
  AwaitChild(child_.pid());
  Set(exited_);
}

void ExecSession::EndProcesses() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return exited_ || closing_; });
  }
  // If the command has ended, this ends the processes that it has left.
  child_.Terminate();
  WaitFor(exited_, kGrace);
  const auto kill_at = std::chrono::steady_clock::now() + kGrace;
  while (WaitFor(exited_, milliseconds(0)) && !ChildrenOf(getpid()).empty() &&
         std::chrono::steady_clock::now() < kill_at) {
    std::this_thread::sleep_for(kLookEvery);
  }
  child_.Signal(SIGKILL);
  const bool exited = WaitFor(exited_, kKillLimit);
  Set(reaped_);
  if (exited) waitpid(child_.pid(), &wait_status_, 0);
  KillDescendants(kKillLimit);
  Set(processes_ended_);
}

void ExecSession::AwaitOutput() {
  // A client that reads slowly still gets all output, unless the worker ends the session.
  while (!WaitFor(output_ended_, kSendLimit)) {
    if (WaitFor(closing_, milliseconds(0))) stream_.Cancel();
  }
}

v1::ExecEnded ExecSession::Result() {
  v1::ExecEnded ended;
  const bool is_known = wait_status_ != -1;
  if (is_known && WIFEXITED(wait_status_)) ended.set_exit_code(WEXITSTATUS(wait_status_));
  if (is_known && WIFSIGNALED(wait_status_)) ended.set_signal(WTERMSIG(wait_status_));
  // The end of a rank kills the session's processes. The worker states this a moment later.
  if (ended.signal() == SIGKILL) WaitFor(closing_, kReasonLimit);
  const std::lock_guard lock(mutex_);
  ended.set_problem(reason_);
  return ended;
}

void ExecSession::Send(const v1::ExecEnded& ended) {
  v1::ExecOutput output;
  *output.mutable_ended() = ended;
  if (stream_.Write(output) && WaitFor(input_ended_, kSendLimit)) return;
  stream_.Cancel();
}

}  // namespace trainyard::worker
