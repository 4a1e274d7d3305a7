// The worker's durable facts: numbered, on disk before they are sent, retained until the controller
// has stored them and their attempt is forgotten.
#ifndef TRAINYARD_WORKER_SPOOL_FACT_LOG_H_
#define TRAINYARD_WORKER_SPOOL_FACT_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/spool/record_log.h"

namespace trainyard::worker {

// One thread.
class FactLog {
 public:
  // DATA_LOSS when whole records cannot be understood: the file is not a fact log of this version.
  static absl::StatusOr<std::unique_ptr<FactLog>> Open(const std::string& path);

  // Assigns the fact the next number and makes it durable. On an error nothing has changed.
  absl::Status Append(v1::Fact fact);

  // Retained facts, by ascending number.
  const std::vector<v1::Fact>& facts() const { return facts_; }
  // Number assigned last; 0 before the first.
  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t acknowledged() const { return acknowledged_; }
  int64_t dropped_bytes() const { return log_->dropped_bytes(); }
  // The first retained fact with a number above `sequence`, or nullptr.
  const v1::Fact* After(uint64_t sequence) const;

  // Applies a Welcome: the controller has all facts up to `sequence`. The retained facts after it
  // must follow without a hole. Where they do not, one side has lost facts (facts.bin removed, the
  // controller restored from an older copy), and the retained facts get new numbers. On an error
  // the new numbers are valid, and Append writes them to the file first.
  absl::Status Reconcile(uint64_t sequence);

  // The controller has all facts up to `sequence`.
  void Acknowledge(uint64_t sequence);

  // Drops acknowledged facts for which `needed` is false, once that is worth a rewrite of the file.
  absl::Status Compact(const std::function<bool(const v1::Fact&)>& needed);

 private:
  FactLog() = default;
  bool FollowsWithoutHole(uint64_t sequence) const;
  absl::Status Rewrite();

  std::unique_ptr<RecordLog> log_;
  // True while the file has other numbers than facts_: a fact appended now would be out of order.
  bool rewrite_due_ = false;
  std::vector<v1::Fact> facts_;
  uint64_t last_sequence_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_FACT_LOG_H_
