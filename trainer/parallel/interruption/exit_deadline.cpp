#include "trainer/parallel/interruption/exit_deadline.h"

#include <unistd.h>

#include <utility>

namespace trainyard::trainer {

ExitDeadline::ExitDeadline(ExitCode code, std::string message)
    : code_(code), message_(std::move(message)), thread_([this] { Run(); }) {}

ExitDeadline::~ExitDeadline() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ExitDeadline::Set(std::chrono::milliseconds from_now) { SetTime(Clock::now() + from_now); }

void ExitDeadline::Clear() { SetTime(Clock::time_point::max()); }

void ExitDeadline::SetTime(Clock::time_point time) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    time_ = time;
  }
  changed_.notify_all();
}

void ExitDeadline::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    if (time_ == Clock::time_point::max()) {  // Some libraries' wait_until cannot wait this long.
      changed_.wait(lock);
    } else if (Clock::now() >= time_) {
      End();
    } else {
      changed_.wait_until(lock, time_);
    }
  }
}

// Calls write(2) instead of writing to a stream, because a blocked thread may hold the stream's
// lock.
void ExitDeadline::End() const {
  const std::string line = "trainyard-trainer: " + message_ + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  _exit(static_cast<int>(code_));
}

}  // namespace trainyard::trainer
