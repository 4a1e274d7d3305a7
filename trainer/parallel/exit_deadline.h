// Deadline that ends the process, for waits that cannot be ended otherwise.
#ifndef TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_
#define TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

// A CUDA call that waits for a device with a lost peer never returns, and no thread can interrupt
// it. This class ends the whole process from a thread that calls only the clock. It skips
// destructors and exit handlers, because they may wait in the same way. Thread-safe.
class ExitDeadline {
 public:
  // `message`: one line for the user, for stderr. There is no deadline until Set.
  ExitDeadline(ExitCode code, std::string message);
  // Cancels the deadline.
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

  // Ends the process `from_now` later. Replaces the previous deadline.
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
  std::thread thread_;  // Last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_
