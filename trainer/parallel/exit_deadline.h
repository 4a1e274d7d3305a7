// A deadline after which the process ends, for waits that nothing else can end.
#ifndef TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_
#define TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

// A call of CUDA that waits for a device with a lost peer never returns, and no other thread can
// interrupt it. This ends the whole process from a thread that calls nothing but the clock: without
// destructors and exit handlers, because these may wait in the same way. For any thread.
class ExitDeadline {
 public:
  // `message`: one line for a person, for stderr. There is no deadline until Set.
  ExitDeadline(ExitCode code, std::string message);
  // Takes the deadline back.
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

  // The process ends in this time from now on. Replaces the deadline before.
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
  Clock::time_point time_ = Clock::time_point::max();  // None.
  bool stop_ = false;
  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_EXIT_DEADLINE_H_
