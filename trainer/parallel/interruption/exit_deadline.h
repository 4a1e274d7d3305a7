// Ends the process at a deadline, because some waits cannot be interrupted.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_EXIT_DEADLINE_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_EXIT_DEADLINE_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

// Ends the whole process at a deadline, from a thread that waits only for the clock. A CUDA call
// that waits for a device never returns if the device's peer is lost, and no thread can interrupt
// the call. Skips destructors and exit handlers, because these may wait for the device, too.
// Thread-safe.
class ExitDeadline {
 public:
  // `message` is one line for the user, written to stderr at the deadline. There is no deadline
  // until Set is called.
  ExitDeadline(ExitCode code, std::string message);
  // Cancels the deadline.
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

  // Sets the deadline to `from_now` from the time of the call. Replaces the previous deadline.
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

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_EXIT_DEADLINE_H_
