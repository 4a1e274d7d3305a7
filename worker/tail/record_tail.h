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

// Parses each line for the first reader that needs it, and keeps the records for the other reader.
// Only the oldest batch is kept, with at most kHeldBytes. The account reads on even while the
// stream waits, so lines after the kept batch are parsed a second time for the stream. Used by one
// thread.
class RecordTail {
 public:
  // ReadTelemetry, or ReadParsedLog if the job has a log parser.
  using Parse = std::function<absl::StatusOr<v1::TelemetryBatch>(const TailPosition&)>;
  static constexpr int64_t kHeldBytes = 64 << 10;

  // `account_offset` is the offset of the first byte that is read for the account.
  RecordTail(GuardedPath path, Parse parse, int64_t account_offset,
             std::shared_ptr<RankAccount> account);

  // Returns the records from `offset` on. Returns the same errors as ReadTelemetry.
  absl::StatusOr<v1::TelemetryBatch> ReadForStream(int64_t offset, bool ended,
                                                   const ClockReading& now);

  // Reads up to the end of the file and adds the records to the account. If the file cannot be
  // read, the account does not change, and the stream reports the error.
  void ReadForAccount(bool ended, const ClockReading& now);

  // True once the account has got metrics.
  bool has_metrics() const { return has_metrics_; }

 private:
  void Note(const v1::TelemetryBatch& batch, const ClockReading& now);

  const GuardedPath path_;
  const Parse parse_;
  const std::shared_ptr<RankAccount> account_;
  // The offset after the last byte that the account has read.
  int64_t account_offset_;
  bool has_metrics_ = false;
  // A batch that was read for the account and not yet by the stream.
  std::optional<v1::TelemetryBatch> held_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RECORD_TAIL_H_
