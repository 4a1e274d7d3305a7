// A file of records with two readers: the stream to the controller, and the rank's account.
#ifndef TRAINYARD_WORKER_TAIL_RECORD_TAIL_H_
#define TRAINYARD_WORKER_TAIL_RECORD_TAIL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/support/clock.h"
#include "proto/support/guarded_path.h"
#include "worker/tail/rank_account.h"
#include "worker/tail/telemetry_tail.h"

namespace trainyard::worker {

// Parses each line once, for the first reader that needs it, and keeps the records for the other
// reader. At most one batch is kept: the oldest, of at most kHeldBytes. The account must be current
// even while the stream waits, so the stream parses later lines again. Used by one thread.
class RecordTail {
 public:
  // ReadTelemetry, or ReadParsedLog with its parser.
  using Parse = std::function<absl::StatusOr<v1::TelemetryBatch>(const TailPosition&)>;
  static constexpr int64_t kHeldBytes = 64 << 10;

  // `account_offset`: the first byte read for the account.
  RecordTail(GuardedPath path, Parse parse, int64_t account_offset,
             std::shared_ptr<RankAccount> account);

  // Records from `offset`. Batch and errors as in ReadTelemetry.
  absl::StatusOr<v1::TelemetryBatch> ReadForStream(int64_t offset, bool ended,
                                                   const ClockReading& now);

  // Brings the account up to the end of the file. If the file cannot be read, the account is
  // unchanged and the stream reports the error.
  void ReadForAccount(bool ended, const ClockReading& now);

  // True once the account has a record.
  bool has_records() const { return has_records_; }

 private:
  void Note(const v1::TelemetryBatch& batch, const ClockReading& now);

  const GuardedPath path_;
  const Parse parse_;
  const std::shared_ptr<RankAccount> account_;
  // End of the bytes that the account has read.
  int64_t account_offset_;
  bool has_records_ = false;
  // Batch already read for the account, but not yet by the stream.
  std::optional<v1::TelemetryBatch> held_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RECORD_TAIL_H_
