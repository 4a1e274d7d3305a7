#include "worker/core/fact_queue.h"

#include <algorithm>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

// A smaller file is not rewritten, because the rewrite would cost more than it saves.
constexpr int64_t kCompactAboveBytes = 64 << 10;

// An upper bound on the number of facts that a disk can have lost. No node records so many facts
// between two starts of its worker.
constexpr uint64_t kMostFactsLost = uint64_t{1} << 32;

}  // namespace

bool FactQueue::Restore(v1::Fact record) {
  if (record.sequence() < last_sequence_) return false;
  last_sequence_ = record.sequence();
  if (record.kind_case() != v1::Fact::KIND_NOT_SET) facts_.push_back(std::move(record));
  return true;
}

absl::Status FactQueue::Append(v1::Fact fact) {
  fact.set_sequence(last_sequence_ + (above_all_known_ ? 1 : kMostFactsLost));
  if (rewrite_due_) TRAINYARD_RETURN_IF_ERROR(Rewrite());
  TRAINYARD_RETURN_IF_ERROR(AppendRecord(fact));
  last_sequence_ = fact.sequence();
  above_all_known_ = true;
  facts_.push_back(std::move(fact));
  return absl::OkStatus();
}

int64_t FactQueue::unacknowledged() const {
  return std::count_if(facts_.begin(), facts_.end(),
                       [&](const v1::Fact& fact) { return fact.sequence() > acknowledged_; });
}

const v1::Fact* FactQueue::After(uint64_t sequence) const {
  const auto found = std::upper_bound(
      facts_.begin(), facts_.end(), sequence,
      [](uint64_t number, const v1::Fact& fact) { return number < fact.sequence(); });
  return found == facts_.end() ? nullptr : &*found;
}

absl::Status FactQueue::Reconcile(uint64_t sequence) {
  acknowledged_ = sequence;
  above_all_known_ = true;
  if (FollowsWithoutHole(sequence)) return absl::OkStatus();
  // If `sequence` is above our last number, this worker has lost facts
  // that the controller has stored. In this case the controller has
  // none of the facts retained here, so all retained facts get new
  // numbers.
  const uint64_t known = sequence > last_sequence_ ? 0 : sequence;
  last_sequence_ = sequence;
  for (v1::Fact& fact : facts_) {
    if (fact.sequence() > known) fact.set_sequence(++last_sequence_);
  }
  rewrite_due_ = true;
  return Rewrite();
}

bool FactQueue::FollowsWithoutHole(uint64_t sequence) const {
  if (sequence > last_sequence_) return false;
  const auto following =
      static_cast<uint64_t>(std::count_if(facts_.begin(), facts_.end(), [&](const v1::Fact& fact) {
        return fact.sequence() > sequence;
      }));
  return following == last_sequence_ - sequence;
}

void FactQueue::Acknowledge(uint64_t sequence) {
  acknowledged_ = std::max(acknowledged_, std::min(sequence, last_sequence_));
}

absl::Status FactQueue::Compact(const std::function<bool(const v1::Fact&)>& needed) {
  if (DiskBytes() < kCompactAboveBytes) return absl::OkStatus();
  const auto droppable = [&](const v1::Fact& fact) {
    return fact.sequence() <= acknowledged_ && !needed(fact);
  };
  const auto dead = std::count_if(facts_.begin(), facts_.end(), droppable);
  // Rewrite the file only if that drops at least half of the facts. This keeps the average cost per
  // fact constant.
  if (dead == 0 || static_cast<std::size_t>(dead) * 2 < facts_.size()) return absl::OkStatus();
  facts_.erase(std::remove_if(facts_.begin(), facts_.end(), droppable), facts_.end());
  return Rewrite();
}

absl::Status FactQueue::Rewrite() {
  std::vector<v1::Fact> records = facts_;
  records.emplace_back().set_sequence(last_sequence_);
  TRAINYARD_RETURN_IF_ERROR(ReplaceRecords(records));
  rewrite_due_ = false;
  return absl::OkStatus();
}

}  // namespace trainyard::worker
