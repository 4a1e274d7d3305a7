// The worker's facts. They are durable before they are sent, and they are numbered without gaps.
// Each fact is retained until the controller has stored it and its attempt is forgotten.
//
// The disk may have lost the newest facts although the controller has received them. New facts must
// not reuse the numbers of lost facts. A fact that is appended before the first Welcome therefore
// gets a number far above all others, and Reconcile later assigns its final number.
#ifndef TRAINYARD_WORKER_CORE_FACT_QUEUE_H_
#define TRAINYARD_WORKER_CORE_FACT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// Implements the rules above. A subclass implements the disk access. Used by one thread.
class FactQueue {
 public:
  virtual ~FactQueue() = default;

  // Assigns the next number to the fact and makes the fact durable. If an error is returned,
  // nothing has changed.
  absl::Status Append(v1::Fact fact);

  // Number of retained facts that the controller has not acknowledged.
  int64_t unacknowledged() const;

  // The retained facts, by ascending number.
  const std::vector<v1::Fact>& facts() const { return facts_; }
  // The number that was assigned last; 0 if none was assigned yet.
  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t acknowledged() const { return acknowledged_; }
  // Returns the first retained fact with a number above `sequence`; nullptr if there is none.
  const v1::Fact* After(uint64_t sequence) const;

  // Processes a Welcome: the controller has all facts up to `sequence`. The retained facts above
  // `sequence` must follow without a gap. If there is a gap, these facts get new numbers. Causes of
  // a gap: facts were appended before this Welcome, or one side has lost facts (facts.bin was
  // damaged, or the controller was restored from an older copy). If an error is returned, the new
  // numbers are valid, and the next Append writes them to the disk first.
  absl::Status Reconcile(uint64_t sequence);

  // Call when the controller has all facts up to `sequence`.
  void Acknowledge(uint64_t sequence);

  // Drops acknowledged facts for which `needed` returns false. Does nothing while too few facts can
  // be dropped to justify rewriting the file.
  absl::Status Compact(const std::function<bool(const v1::Fact&)>& needed);

 protected:
  // Adds a record that was read from the disk. Call in the order of the file. Returns false if the
  // record's number is below that of the preceding record. A record that contains only a number
  // preserves the last number after a rewrite has dropped the last fact.
  bool Restore(v1::Fact record);

  // AppendRecord durably appends the record. ReplaceRecords durably replaces all records. If an
  // error is returned, the disk is unchanged.
  virtual absl::Status AppendRecord(const v1::Fact& record) = 0;
  virtual absl::Status ReplaceRecords(const std::vector<v1::Fact>& records) = 0;
  virtual int64_t DiskBytes() const = 0;

 private:
  bool FollowsWithoutHole(uint64_t sequence) const;
  absl::Status Rewrite();

  // True while the numbers on disk differ from those in facts_. The file must then be rewritten
  // before the next append. Otherwise the appended number would be out of order.
  bool rewrite_due_ = false;
  // True if the newest number certainly exceeds every number that the controller has received.
  bool above_all_known_ = false;
  std::vector<v1::Fact> facts_;
  uint64_t last_sequence_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_FACT_QUEUE_H_
