#include "worker/spool/fact_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

// File size below which a rewrite is not worth its cost.
constexpr int64_t kCompactAboveBytes = 64 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<FactLog>> FactLog::Open(const std::string& path) {
  auto facts = std::unique_ptr<FactLog>(new FactLog);
  TRAINYARD_ASSIGN_OR_RETURN(facts->log_, RecordLog::Open(path));
  for (const std::string& record : facts->log_->records_at_open()) {
    v1::Fact fact;
    if (!fact.ParseFromString(record) || fact.sequence() < facts->last_sequence_) {
      return absl::DataLossError(
          absl::StrCat(path, " is not a fact log of this version of trainyard-worker"));
    }
    facts->last_sequence_ = fact.sequence();
    // A record with a number and no fact preserves the last number after a compaction.
    if (fact.kind_case() != v1::Fact::KIND_NOT_SET) facts->facts_.push_back(std::move(fact));
  }
  return facts;
}

absl::Status FactLog::Append(v1::Fact fact) {
  fact.set_sequence(last_sequence_ + 1);
  if (rewrite_due_) TRAINYARD_RETURN_IF_ERROR(Rewrite());
  TRAINYARD_RETURN_IF_ERROR(log_->Append(fact.SerializeAsString()));
  ++last_sequence_;
  facts_.push_back(std::move(fact));
  return absl::OkStatus();
}

const v1::Fact* FactLog::After(uint64_t sequence) const {
  const auto found = std::upper_bound(
      facts_.begin(), facts_.end(), sequence,
      [](uint64_t number, const v1::Fact& fact) { return number < fact.sequence(); });
  return found == facts_.end() ? nullptr : &*found;
}

absl::Status FactLog::Reconcile(uint64_t sequence) {
  acknowledged_ = sequence;
  if (FollowsWithoutHole(sequence)) return absl::OkStatus();
  // When the controller's number is above ours, it counts facts that are lost here. It then does
  // not cover the facts retained here, so all of them get new numbers.
  const uint64_t known = sequence > last_sequence_ ? 0 : sequence;
  last_sequence_ = sequence;
  for (v1::Fact& fact : facts_) {
    if (fact.sequence() > known) fact.set_sequence(++last_sequence_);
  }
  rewrite_due_ = true;
  return Rewrite();
}

bool FactLog::FollowsWithoutHole(uint64_t sequence) const {
  if (sequence > last_sequence_) return false;
  const auto following =
      static_cast<uint64_t>(std::count_if(facts_.begin(), facts_.end(), [&](const v1::Fact& fact) {
        return fact.sequence() > sequence;
      }));
  return following == last_sequence_ - sequence;
}

void FactLog::Acknowledge(uint64_t sequence) {
  acknowledged_ = std::max(acknowledged_, std::min(sequence, last_sequence_));
}

absl::Status FactLog::Compact(const std::function<bool(const v1::Fact&)>& needed) {
  if (log_->size_bytes() < kCompactAboveBytes) return absl::OkStatus();
  const auto droppable = [&](const v1::Fact& fact) {
    return fact.sequence() <= acknowledged_ && !needed(fact);
  };
  const auto dead = std::count_if(facts_.begin(), facts_.end(), droppable);
  // Rewriting when half can go keeps the cost of each fact constant.
  if (dead == 0 || static_cast<std::size_t>(dead) * 2 < facts_.size()) return absl::OkStatus();
  facts_.erase(std::remove_if(facts_.begin(), facts_.end(), droppable), facts_.end());
  return Rewrite();
}

absl::Status FactLog::Rewrite() {
  std::vector<std::string> records;
  for (const v1::Fact& fact : facts_) records.push_back(fact.SerializeAsString());
  v1::Fact count;
  count.set_sequence(last_sequence_);
  records.push_back(count.SerializeAsString());
  TRAINYARD_RETURN_IF_ERROR(log_->Rewrite(records));
  rewrite_due_ = false;
  return absl::OkStatus();
}

}  // namespace trainyard::worker
