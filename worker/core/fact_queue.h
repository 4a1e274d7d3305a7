// The worker's facts: durable before they are sent, sent with numbers that have no hole, retained
// until the controller has stored them and their attempt is forgotten.
//
// The disk may have lost the newest facts, whose numbers the controller knows. A fact of a worker
// that has not met the controller since its start must get none of these: it gets a number far
// behind them, and its real one from Reconcile.
#ifndef TRAINYARD_WORKER_CORE_FACT_QUEUE_H_
#define TRAINYARD_WORKER_CORE_FACT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// The rules; a subclass has the disk. One thread.
class FactQueue {
 public:
  virtual ~FactQueue() = default;

  // Assigns the fact the next number and makes it durable. On an error nothing has changed.
  absl::Status Append(v1::Fact fact);

  // Retained facts that the controller has not acknowledged.
  int64_t unacknowledged() const;

  // Retained facts, by ascending number.
  const std::vector<v1::Fact>& facts() const { return facts_; }
  // Number assigned last; 0 before the first.
  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t acknowledged() const { return acknowledged_; }
  // The first retained fact with a number above `sequence`, or nullptr.
  const v1::Fact* After(uint64_t sequence) const;

  // Applies a Welcome: the controller has all facts up to `sequence`. The retained facts after it
  // must follow without a hole. Where they do not, some were made before this Welcome, or one side
  // has lost facts (facts.bin damaged, the controller restored from an older copy), and the
  // retained facts get new numbers. On an error the new numbers are valid, and Append writes them
  // to the disk first.
  absl::Status Reconcile(uint64_t sequence);

  // The controller has all facts up to `sequence`.
  void Acknowledge(uint64_t sequence);

  // Drops acknowledged facts for which `needed` is false, once that is worth a rewrite of the disk.
  absl::Status Compact(const std::function<bool(const v1::Fact&)>& needed);

 protected:
  // Takes a record of the disk, in order. False when its number does not follow. A record with a
  // number and no fact preserves the last number after a compaction.
  bool Restore(v1::Fact record);

  // Make the record durable as the last one, or instead of all others. On an error the disk is as
  // before.
  virtual absl::Status AppendRecord(const v1::Fact& record) = 0;
  virtual absl::Status ReplaceRecords(const std::vector<v1::Fact>& records) = 0;
  virtual int64_t DiskBytes() const = 0;

 private:
  bool FollowsWithoutHole(uint64_t sequence) const;
  absl::Status Rewrite();

  // True while the disk has other numbers than facts_: a fact appended now would be out of order.
  bool rewrite_due_ = false;
  // True once the newest number is known to be above all that the controller knows.
  bool above_all_known_ = false;
  std::vector<v1::Fact> facts_;
  uint64_t last_sequence_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_FACT_QUEUE_H_
