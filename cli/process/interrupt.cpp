#include "cli/process/interrupt.h"

#include <fcntl.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>
#include <utility>

namespace trainyard::cli {
namespace {

// Write end of the listener's pipe. Signal handlers write to this end, because write() is
// async-signal-safe.
std::atomic<int> signal_pipe{-1};

// The signals of Ctrl-C, of a request to exit and of a closed terminal.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

constexpr char kSignal = 's';
constexpr char kQuit = 'q';

void OnSignal(int) {
  const int saved_errno = errno;
  const int fd = signal_pipe.load();
  if (fd >= 0) [[maybe_unused]]
    const ssize_t written = write(fd, &kSignal, 1);
  errno = saved_errno;
}

}  // namespace

void Interrupt::Listen() {
  if (listener_.joinable()) return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;  // Without a pipe, Ctrl-C still ends the process.
  signal_pipe = ends[1];
  listener_ = std::thread([this, read_end = ends[0]] {
    char byte = 0;
    while (read(read_end, &byte, 1) == 1 && byte != kQuit) Raise();
    close(read_end);
  });
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

Interrupt::~Interrupt() {
  if (!listener_.joinable()) return;
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
  const int fd = signal_pipe.exchange(-1);
  [[maybe_unused]] const ssize_t written = write(fd, &kQuit, 1);
  listener_.join();
  close(fd);
}

void Interrupt::Raise() {
  const std::lock_guard lock(mutex_);
  if (++count_ > 1) return;
  for (const auto& [id, callback] : callbacks_) callback();
  changed_.notify_all();
}

int Interrupt::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

bool Interrupt::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return count_ > 0; });
}

Interrupt::Scope::Scope(Interrupt& interrupt, std::function<void()> on_raise)
    : interrupt_(interrupt) {
  const std::lock_guard lock(interrupt.mutex_);
  id_ = interrupt.next_id_++;
  if (interrupt.count_ > 0) on_raise();
  interrupt.callbacks_[id_] = std::move(on_raise);
}

Interrupt::Scope::~Scope() {
  const std::lock_guard lock(interrupt_.mutex_);
  interrupt_.callbacks_.erase(id_);
}

}  // namespace trainyard::cli
