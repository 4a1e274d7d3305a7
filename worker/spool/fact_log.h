// The worker's facts in the file `facts.bin`. The rules are in worker/core/fact_queue.h.
#ifndef TRAINYARD_WORKER_SPOOL_FACT_LOG_H_
#define TRAINYARD_WORKER_SPOOL_FACT_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/fact_queue.h"
#include "worker/spool/record_log.h"

namespace trainyard::worker {

// Used by one thread.
class FactLog final : public FactQueue {
 public:
  // Returns DATA_LOSS if a complete record cannot be parsed as a fact. In this case the file is not
  // a fact log, or a different version has written it.
  static absl::StatusOr<std::unique_ptr<FactLog>> Open(const std::string& path);

  int64_t dropped_bytes() const { return log_->dropped_bytes(); }
  // See RecordLog::damage. If a fact is missing, Reconcile renumbers the facts.
  const std::string& damage() const { return log_->damage(); }

 private:
  FactLog() = default;
  absl::Status AppendRecord(const v1::Fact& record) override;
  absl::Status ReplaceRecords(const std::vector<v1::Fact>& records) override;
  int64_t DiskBytes() const override { return log_->size_bytes(); }

  std::unique_ptr<RecordLog> log_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_FACT_LOG_H_
