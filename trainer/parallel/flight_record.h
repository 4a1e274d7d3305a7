// The latest operations of a group on this rank. When a gang hangs, the records of all ranks show
// which rank is missing in which operation.
#ifndef TRAINYARD_TRAINER_PARALLEL_FLIGHT_RECORD_H_
#define TRAINYARD_TRAINER_PARALLEL_FLIGHT_RECORD_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainer/parallel/operation.h"

namespace trainyard::trainer {

// Times are seconds since 1970; 0: not yet.
struct FlightEntry {
  uint64_t sequence = 0;  // Number in the group, from 1; equal on all members.
  Operation::Kind kind = Operation::Kind::kLocal;
  int64_t bytes = 0;
  double queued = 0;   // Queued by the training thread.
  double entered = 0;  // Begun by the device, which then waits for the other members.
};

// Thread-safe.
class FlightRecord {
 public:
  // More than a host queues ahead of its device, so the device's current operation is kept.
  static constexpr uint64_t kKept = 4096;

  // Returns the operation's sequence number.
  uint64_t Queue(const Operation& operation);
  // Marks all operations up to `sequence` as entered, or as left.
  void Enter(uint64_t sequence);
  void Leave(uint64_t sequence);

  // The latest sequence number with these low 32 bits; 0 before the first operation.
  uint64_t Widen(uint32_t low_bits) const;

  // The oldest operation the device has not left. If it has left all, the next one, without times.
  FlightEntry Current() const;

  // Number of operations entered plus number left. It grows as long as the rank makes progress.
  uint64_t moves() const;

 private:
  FlightEntry& At(uint64_t sequence) { return entries_[sequence % kKept]; }
  // Marks the kept entries up to `sequence`, a queued operation, as entered. Requires mutex_.
  void EnterUpTo(uint64_t sequence);

  mutable std::mutex mutex_;
  std::vector<FlightEntry> entries_ = std::vector<FlightEntry>(kKept);
  uint64_t queued_ = 0;  // Latest sequence number in each state.
  uint64_t entered_ = 0;
  uint64_t left_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_FLIGHT_RECORD_H_
