// The newest operations of a group on this rank: from the records of all ranks a hang shows which
// rank is missing in which operation.
#ifndef TRAINYARD_TRAINER_PARALLEL_FLIGHT_RECORD_H_
#define TRAINYARD_TRAINER_PARALLEL_FLIGHT_RECORD_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainer/parallel/operation.h"

namespace trainyard::trainer {

// Times are seconds since 1970; 0: not yet.
struct FlightEntry {
  uint64_t sequence = 0;  // Of the group, from 1; equal on all members for the same operation.
  Operation::Kind kind = Operation::Kind::kLocal;
  int64_t bytes = 0;
  double queued = 0;   // By the training thread.
  double entered = 0;  // By the device, which then waits for the other members.
  double left = 0;
};

// For any thread.
class FlightRecord {
 public:
  // More than a host queues ahead of its device: the operation that a device stands in is kept.
  static constexpr uint64_t kKept = 4096;

  // Returns the operation's sequence number.
  uint64_t Queue(const Operation& operation);
  // All operations up to this one were entered, or left.
  void Enter(uint64_t sequence);
  void Leave(uint64_t sequence);

  // Forgets all operations: the next one has number 1, as on a member that is new.
  void Restart();

  // The newest sequence number that ends in these 32 bits; 0 before the first operation.
  uint64_t Widen(uint32_t low_bits) const;

  // The oldest operation that the device has not left. Where it has left all of them, the next one,
  // with no times.
  FlightEntry Current() const;

  // Operations that were entered so far and those that were left, together: it grows as long as the
  // rank moves.
  uint64_t moves() const;

  // The newest kKept operations, oldest first.
  std::vector<FlightEntry> Entries() const;

 private:
  FlightEntry& At(uint64_t sequence) { return entries_[sequence % kKept]; }
  // Calls mark(entry) for the kept entries from the one after `marked` to `sequence`.
  template <typename Mark>
  void MarkUpTo(uint64_t sequence, uint64_t& marked, const Mark& mark);

  mutable std::mutex mutex_;
  std::vector<FlightEntry> entries_ = std::vector<FlightEntry>(kKept);
  uint64_t queued_ = 0;  // Newest sequence number of each kind.
  uint64_t entered_ = 0;
  uint64_t left_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_FLIGHT_RECORD_H_
