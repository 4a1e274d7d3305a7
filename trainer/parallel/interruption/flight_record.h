// A record of the latest operations of a group on this rank. When a gang hangs, the records of all
// ranks show which rank is missing in which operation.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_FLIGHT_RECORD_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_FLIGHT_RECORD_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainer/parallel/interruption/operation.h"

namespace trainyard::trainer {

// Times are in seconds since 1970. A time is 0 if the operation has not reached that state.
struct FlightEntry {
  uint64_t sequence = 0;  // Number of the operation in the group, from 1; equal on all members.
  Operation::Kind kind = Operation::Kind::kLocal;
  int64_t bytes = 0;
  double queued = 0;   // Time at which the training thread queued it.
  double entered = 0;  // Time at which the device began it and waited for members.
};

// Thread-safe.
class FlightRecord {
 public:
  // Larger than the number of operations that a host queues ahead of its device, so that the record
  // always contains the operation that the device runs.
  static constexpr uint64_t kKept = 4096;

  // Records a queued operation and returns its sequence number.
  uint64_t Queue(const Operation& operation);
  // Enter marks all operations up to `sequence` as entered, Leave marks them as left.
  void Enter(uint64_t sequence);
  void Leave(uint64_t sequence);

  // Returns the latest queued sequence number whose low 32 bits are `low_bits`; 0 before the first
  // operation.
  uint64_t Widen(uint32_t low_bits) const;

  // Returns the oldest operation that the device has not left. If the device has left all
  // operations, returns an entry for the next operation, without times.
  FlightEntry Current() const;

  // The number of operations entered plus the number of operations left. The sum grows whenever the
  // rank makes progress.
  uint64_t moves() const;

 private:
  FlightEntry& At(uint64_t sequence) { return entries_[sequence % kKept]; }
  // Marks the kept entries up to `sequence` as entered. `sequence` must have been queued. Requires
  // mutex_.
  void EnterUpTo(uint64_t sequence);

  mutable std::mutex mutex_;
  std::vector<FlightEntry> entries_ = std::vector<FlightEntry>(kKept);
  uint64_t queued_ = 0;  // The latest sequence number in each of the three states.
  uint64_t entered_ = 0;
  uint64_t left_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_FLIGHT_RECORD_H_
