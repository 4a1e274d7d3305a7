// Ends a process whose GPU waits for a lost peer while its training thread waits for the GPU.
#ifndef TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_
#define TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "trainer/parallel/exit_deadline.h"
#include "trainer/parallel/flight_record.h"

namespace trainyard::trainer {

// Low 32 bits of the sequence numbers (flight_record.h) of the latest operations the device has
// begun and ended. The device writes them when it reaches an operation, which may be long after the
// launch.
struct OperationCounters {
  std::atomic<uint32_t> entered{0};
  std::atomic<uint32_t> left{0};
};

// Measures the time of operations that wait for peers, using only the counters. It calls no CUDA
// function, because those block while the device's launch queue is full or memory is being freed.
// The training thread checks RunningFor where it polls. If it blocks in CUDA instead, a thread of
// this class exits the process with kPeerLost. That is the fallback and has a longer limit, because
// the training thread's exception is more specific and lets a save in flight finish.
class OperationWatch {
 public:
  // Marks in `record` the operations the device has entered and left, within 0.1 s. `counters` and
  // `record` must outlive this. exit_limit: maximum duration of one operation.
  OperationWatch(const OperationCounters& counters, FlightRecord& record, const std::string& group,
                 std::chrono::milliseconds exit_limit);
  ~OperationWatch();
  OperationWatch(const OperationWatch&) = delete;
  OperationWatch& operator=(const OperationWatch&) = delete;

  // Time the device has spent in its current operation, within 0.1 s; 0 outside an operation.
  // Excludes work before the operation. Thread-safe.
  std::chrono::milliseconds RunningFor() const;

  // Stops the watch, once the caller has noticed the loss. Thread-safe.
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::rep kIdle = -1;

  void Run();
  void Look();

  const OperationCounters& counters_;
  FlightRecord& record_;
  const std::chrono::milliseconds exit_limit_;
  ExitDeadline deadline_;
  uint32_t current_ = 0;                   // Operation that `since_` refers to.
  std::atomic<Clock::rep> since_ = kIdle;  // Time at which it was first seen.
  std::atomic<bool> stop_{false};
  std::thread thread_;  // Last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_
