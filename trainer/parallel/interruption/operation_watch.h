// Ends a process whose training thread waits for the GPU while the GPU waits for a lost peer.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_OPERATION_WATCH_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_OPERATION_WATCH_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "trainer/parallel/interruption/exit_deadline.h"
#include "trainer/parallel/interruption/flight_record.h"

namespace trainyard::trainer {

// The latest operation that the device has begun and the latest operation that it has ended, as the
// low 32 bits of their sequence numbers (flight_record.h). The device writes a number when it
// begins or ends an operation, which may be long after the launch.
struct OperationCounters {
  std::atomic<uint32_t> entered{0};
  std::atomic<uint32_t> left{0};
};

// Measures how long operations wait for peers. The watch reads only the counters and calls no CUDA
// function, because CUDA functions block while the launch queue of the device is full or memory is
// being freed.
//
// Normally, the training thread polls, checks RunningFor and throws. If the training thread is
// blocked in CUDA instead, a thread of this class ends the process with kPeerLost. This fallback
// has a longer limit, because the training thread's exception is more specific and lets a save in
// flight finish.
class OperationWatch {
 public:
  // Marks in `record` the operations that the device has entered and left, at most 0.1 s late. Ends
  // the process if an operation takes longer than exit_limit. `counters` and `record` must outlive
  // this object.
  OperationWatch(const OperationCounters& counters, FlightRecord& record, const std::string& group,
                 std::chrono::milliseconds exit_limit);
  ~OperationWatch();
  OperationWatch(const OperationWatch&) = delete;
  OperationWatch& operator=(const OperationWatch&) = delete;

  // The time that the device has spent in its current operation, accurate to 0.1 s; 0 between
  // operations. The work that precedes an operation does not count. Thread-safe.
  std::chrono::milliseconds RunningFor() const;

  // Stops watching. Must be called when the caller has noticed the loss. Thread-safe.
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
  uint32_t current_ = 0;                   // The operation to which `since_` refers.
  std::atomic<Clock::rep> since_ = kIdle;  // Time at which `current_` was first seen.
  std::atomic<bool> stop_{false};
  std::thread thread_;  // The last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_OPERATION_WATCH_H_
