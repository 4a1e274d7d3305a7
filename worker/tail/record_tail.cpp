#include "worker/tail/record_tail.h"

#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::worker {

RecordTail::RecordTail(GuardedPath path, Parse parse, int64_t account_offset,
                       std::shared_ptr<RankAccount> account)
    : path_(std::move(path)),
      parse_(std::move(parse)),
      account_(std::move(account)),
      account_offset_(account_offset) {}

absl::StatusOr<v1::TelemetryBatch> RecordTail::ReadForStream(int64_t offset, bool ended,
                                                             const ClockReading& now) {
  std::optional<v1::TelemetryBatch> held = std::exchange(held_, std::nullopt);
  if (held.has_value() && held->begin_offset() == offset) return *std::move(held);
  if (offset < account_offset_) {
    // The read ends at the account's offset. After it, the stream and the account can use the same
    // batches.
    TRAINYARD_ASSIGN_OR_RETURN(v1::TelemetryBatch batch,
                               parse_({path_, offset, ended, now.wall_ms, account_offset_}));
    // If the account's offset is inside a line, the batch is empty.
    if (batch.end_offset() > offset) return batch;
  }
  TRAINYARD_ASSIGN_OR_RETURN(v1::TelemetryBatch batch, parse_({path_, offset, ended, now.wall_ms}));
  if (offset == account_offset_) Note(batch, now);
  return batch;
}

void RecordTail::ReadForAccount(bool ended, const ClockReading& now) {
  absl::StatusOr<v1::TelemetryBatch> batch = parse_({path_, account_offset_, ended, now.wall_ms});
  if (!batch.ok() || batch->end_offset() == batch->begin_offset()) return;
  Note(*batch, now);
  const bool fits = batch->end_offset() - batch->begin_offset() <= kHeldBytes;
  if (fits && !held_.has_value()) held_ = *std::move(batch);
}

void RecordTail::Note(const v1::TelemetryBatch& batch, const ClockReading& now) {
  for (const v1::TelemetryRecord& record : batch.records()) {
    account_->Note(record, now);
    has_metrics_ = has_metrics_ || record.has_metrics();
  }
  account_offset_ = batch.end_offset();
}

}  // namespace trainyard::worker
