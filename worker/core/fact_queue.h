// The worker's facts: durable before they are sent, numbered without gaps, retained until the
// controller has stored them and their attempt is forgotten.
//
// The disk may have lost the newest facts, whose numbers the controller knows. A fact appended
// before the first Welcome since the worker's start must not reuse these numbers: it gets a number
// far above them, and its final number from Reconcile.
#ifndef TRAINYARD_WORKER_CORE_FACT_QUEUE_H_
#define TRAINYARD_WORKER_CORE_FACT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// Implements the rules; a subclass implements the access to the disk. Used by one thread.
class FactQueue {
 public:
  virtual ~FactQueue() = default;

  // Assigns the fact the next number and makes it durable. Changes nothing on an error.
  absl::Status Append(v1::Fact fact);

  // Number of retained facts that the controller has not acknowledged.
  int64_t unacknowledged() const;

  // Retained facts, by ascending number.
  const std::vector<v1::Fact>& facts() const { return facts_; }
  // Number assigned last; 0 before the first.
  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t acknowledged() const { return acknowledged_; }
  // The first retained fact with a number above `sequence`, or nullptr.
  const v1::Fact* After(uint64_t sequence) const;

  // Applies a Welcome: the controller has all facts up to `sequence`. The retained facts after it
  // must follow without a gap. A gap means that some were appended before this Welcome, or that one
  // side has lost facts (facts.bin damaged, the controller restored from an older copy). The
  // retained facts then get new numbers. On an error the new numbers are valid, and Append writes
  // them to the disk first.
  absl::Status Reconcile(uint64_t sequence);

  // The controller has all facts up to `sequence`.
  void Acknowledge(uint64_t sequence);

  // Drops acknowledged facts for which `needed` is false, once enough of them justify rewriting the
  // disk.
  absl::Status Compact(const std::function<bool(const v1::Fact&)>& needed);

 protected:
  // Adds a record read from the disk, in order. Returns false if its number is below that of the
  // preceding record. A record with a number but no fact preserves the last number across a
  // compaction.
  bool Restore(v1::Fact record);

  // Durably append the record, or replace all records. On an error the disk is unchanged.
  virtual absl::Status AppendRecord(const v1::Fact& record) = 0;
  virtual absl::Status ReplaceRecords(const std::vector<v1::Fact>& records) = 0;
  virtual int64_t DiskBytes() const = 0;

 private:
  bool FollowsWithoutHole(uint64_t sequence) const;
  absl::Status Rewrite();

  // True while the numbers on disk differ from those of facts_: an append now would be out of
  // order.
  bool rewrite_due_ = false;
  // True once the newest number is known to exceed every number that the controller knows.
  bool above_all_known_ = false;
  std::vector<v1::Fact> facts_;
  uint64_t last_sequence_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_FACT_QUEUE_H_
