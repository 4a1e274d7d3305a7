// One file of records and its two readers: the stream to the controller, and the rank's account.
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

// Parses each line once, for the reader that comes first, and keeps the records for the other one.
// The account must be current also while the stream waits, so at most one batch of the oldest
// kHeldBytes is kept: lines beyond it are parsed again when the stream comes to them. One thread.
class RecordTail {
 public:
  // ReadTelemetry, or ReadParsedLog with its parser.
  using Parse = std::function<absl::StatusOr<v1::TelemetryBatch>(const TailPosition&)>;
  static constexpr int64_t kHeldBytes = 64 << 10;

  // `account_offset`: the first byte that the account takes in.
  RecordTail(GuardedPath path, Parse parse, int64_t account_offset,
             std::shared_ptr<RankAccount> account);

  // Records from `offset` on. The batch and its errors are those of ReadTelemetry.
  absl::StatusOr<v1::TelemetryBatch> ReadForStream(int64_t offset, bool ended,
                                                   const ClockReading& now);

  // Brings the account up to the end of the file. A file that cannot be read leaves it as it is:
  // the stream reports the error.
  void ReadForAccount(bool ended, const ClockReading& now);

  // True once the account has taken in a record.
  bool has_records() const { return has_records_; }

 private:
  void Note(const v1::TelemetryBatch& batch, const ClockReading& now);

  const GuardedPath path_;
  const Parse parse_;
  const std::shared_ptr<RankAccount> account_;
  // End of the bytes that the account has taken in.
  int64_t account_offset_;
  bool has_records_ = false;
  // Read for the account, and not yet by the stream.
  std::optional<v1::TelemetryBatch> held_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RECORD_TAIL_H_
