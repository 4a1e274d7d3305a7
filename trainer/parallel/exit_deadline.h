// A deadline at which the process is ended, for waits that cannot be interrupted.
#ifndef TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_
#define TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

// A CUDA call that waits for a device whose peer is lost never returns, and no thread can interrupt
// it. This class therefore ends the whole process, from a thread that calls only the clock.
// Destructors and exit handlers are skipped, because they may wait for the device too. Thread-safe.
class ExitDeadline {
 public:
  // `message`: one line for the user, written to stderr. There is no deadline until Set is called.
  ExitDeadline(ExitCode code, std::string message);
  // Cancels the deadline.
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

  // Sets the deadline to `from_now` after now. Replaces the previous deadline.
  void Set(std::chrono::milliseconds from_now);
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void SetTime(Clock::time_point time);
  void Run();
  [[noreturn]] void End() const;

  const ExitCode code_;
  const std::string message_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point time_ = Clock::time_point::max();  // No deadline.
  bool stop_ = false;
  std::thread thread_;  // The last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_
