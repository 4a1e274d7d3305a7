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

// The last 32 bits of the sequence numbers (flight_record.h) of the newest operations that a device
// has begun and has ended. The
// device itself writes them when it comes to an operation, which may be long after its launch.
struct OperationCounters {
  std::atomic<uint32_t> entered{0};
  std::atomic<uint32_t> left{0};
};

// Times of operations that wait for peers, by the counters alone: nothing here calls CUDA, whose
// functions wait for the device as soon as its queue of launches is full or memory is freed. The
// training thread asks RunningFor where it polls. Where it waits in CUDA instead, the process
// leaves with kPeerLost from a thread of this class: the second line, with a longer limit, because
// the exception of the training thread says more and lets a save in flight end.
class OperationWatch {
 public:
  // Marks in the record which operations the device has entered and left, to tenths of a second.
  // Counters and record must outlive this. exit_limit: for one operation.
  OperationWatch(const OperationCounters& counters, FlightRecord& record, const std::string& group,
                 std::chrono::milliseconds exit_limit);
  ~OperationWatch();
  OperationWatch(const OperationWatch&) = delete;
  OperationWatch& operator=(const OperationWatch&) = delete;

  // Time that the device has been in its current operation, to tenths of a second; 0 outside one.
  // Work before the operation does not count, however long it takes. For any thread.
  std::chrono::milliseconds RunningFor() const;

  // Ends the watch: the caller has noticed the loss. For any thread.
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
  uint32_t current_ = 0;                   // Operation that `since_` is of.
  std::atomic<Clock::rep> since_ = kIdle;  // Time at which it was first seen.
  std::atomic<bool> stop_{false};
  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_
