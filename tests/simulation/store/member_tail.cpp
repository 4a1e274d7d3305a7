// A candidate that follows the log, with the steps of controller/loop/log_follower.cpp.
#include <memory>
#include <utility>
#include <vector>

#include "proto/support/status_macros.h"
#include "tests/simulation/store/member.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kPollMs = 200;
constexpr Connection::Limits kTailLimits{.lock_ms = 5'000, .answer_ms = 12'000};
// A few events, so that a state is often behind.
constexpr int kBatchEvents = 8;

absl::StatusOr<controller::LogTail::Batch> ReadAfter(uint64_t after,
                                                     controller::MemoryEventLog& log) {
  controller::LogTail::Batch batch;
  batch.last_sequence = after;
  if (after == 0) {
    TRAINYARD_ASSIGN_OR_RETURN(controller::EventLog::Recovery recovery, log.Recover());
    batch.restarts = true;
    batch.snapshot = std::move(recovery.snapshot);
    if (batch.snapshot.has_value()) batch.last_sequence = batch.snapshot->last_sequence();
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::EventEntry> entries,
                             log.ReadEventsAfter(batch.last_sequence, kBatchEvents));
  for (v1::EventEntry& entry : entries) {
    batch.last_sequence = entry.sequence();
    batch.events.push_back(std::move(*entry.mutable_event()));
  }
  batch.has_more = entries.size() == kBatchEvents;
  return batch;
}

}  // namespace

void Member::Follow() {
  if (opens_stores_) return;
  if (tail_ == nullptr || !tail_->is_open()) {
    replayed_ = {};
    tail_ = Connection::Open(number_, world_);
    if (tail_ == nullptr) return Run(kPollMs, [this] { Follow(); });
  }
  const auto batch = std::make_shared<controller::LogTail::Batch>();
  Call(
      tail_, kTailLimits,
      [batch, after = replayed_.last_sequence,
       &database = world_.database](int64_t) -> std::optional<absl::Status> {
        auto read = ReadAfter(after, database.log());
        if (read.ok()) *batch = *std::move(read);
        return read.status();
      },
      [this, batch, tail = tail_](const absl::Status& status) {
        if (tail != tail_) return;  // The member leads by now.
        if (!status.ok()) return Run(kPollMs, [this] { Follow(); });
        Followed(std::move(*batch));
      });
}

void Member::Followed(controller::LogTail::Batch batch) {
  const bool has_more = batch.has_more;
  if (!ApplyBatch(std::move(batch), Clock().steady_ms, replayed_).ok()) {
    tail_->Close();
  } else if (world_.database.HasSession(tail_->session())) {
    // An older copy has not replaced the database.
    world_.audit.CheckState(replayed_.state, replayed_.last_sequence);
  }
  Run(has_more ? 0 : kPollMs, [this] { Follow(); });
}

void Member::StopFollowing() {
  if (tail_ != nullptr) tail_->Close();
  tail_ = nullptr;
  replayed_ = {};
}

}  // namespace trainyard::simulation
