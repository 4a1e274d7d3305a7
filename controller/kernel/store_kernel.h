// The rules for storing telemetry and output. Each byte of a stream is stored once and in order,
// and is acknowledged after that. The caller reads offsets, writes to the stores and retries.
#ifndef TRAINYARD_CONTROLLER_KERNEL_STORE_KERNEL_H_
#define TRAINYARD_CONTROLLER_KERNEL_STORE_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/support/stream_key.h"
#include "controller/kernel/worker_actions.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Receives the number of stored bytes of the stream, or an error. OUT_OF_RANGE: bytes before the
// sent bytes are missing. DATA_LOSS: the stream is quarantined.
using Stored = std::function<void(const absl::StatusOr<int64_t>& offset)>;

struct TelemetryItem {
  v1::TelemetryBatch batch;
  Stored stored;
};
struct OutputItem {
  v1::LogChunk chunk;
  Stored stored;
};

// Returns false for output, which is written to the log store.
bool IsMetricStream(const StreamKey& stream);

// Returns the metric points, the records of experts and the parts of reports of a telemetry batch.
MetricBatch ToMetricBatch(const v1::TelemetryBatch& batch);

class StoreKernel {
 public:
  // A pending call of `stored` with `result`.
  struct Reply {
    Stored stored;
    StreamKey stream;
    absl::StatusOr<int64_t> result;
  };

  // Data that is written together, in one transaction per store.
  struct Group {
    std::vector<MetricBatch> metrics;
    std::vector<LogBatch> logs;
    // Jobs with new output, and jobs with new metric points (with the newest step of these points).
    std::set<int64_t> jobs_with_output;
    std::map<int64_t, int64_t> newest_steps;
  };

  // Returns true if the stream's offset is known. Otherwise, call SetOffset with the stored offset
  // before adding data of the stream.
  bool Knows(const StreamKey& stream) const;
  void SetOffset(const StreamKey& stream, int64_t offset) { stored_[stream] = offset; }
  // Call if the stream's stored data is damaged. From then on, no data of the stream is stored or
  // acknowledged. Returns false if the stream was already quarantined.
  bool Quarantine(const StreamKey& stream, const absl::Status& damage);
  bool IsQuarantined(const StreamKey& stream) const { return quarantined_.contains(stream); }
  // Returns the stored offset of the stream, not counting the current group. Returns nullopt if the
  // offset is not cached.
  std::optional<int64_t> StoredOffset(const StreamKey& stream) const;

  // Both overloads add data to the group. Bytes that are already stored are skipped, and bytes
  // after a gap are refused.
  void Add(TelemetryItem item);
  void Add(OutputItem item);

  bool HasGroup() const { return !waiting_.empty(); }
  const Group& group() const { return group_; }
  // Call after the group was stored, except for its quarantined streams. Returns the group and
  // starts a new group.
  Group GroupStored();

  // Returns the calls to make now, in order.
  std::vector<Reply> TakeReplies() { return std::exchange(replies_, {}); }

 private:
  // Returns the stream offset of the next byte to add.
  int64_t NextOffset(const StreamKey& stream) const;
  // Returns true if the bytes [begin, end) must be stored. Queues the reply in either case.
  bool Admit(const StreamKey& stream, int64_t begin, int64_t end, Stored& stored);

  // The cached stored offsets, and the errors of quarantined streams.
  StreamOffsets stored_;
  std::map<StreamKey, absl::Status> quarantined_;
  Group group_;
  // The stream offsets that will be valid, and the replies that will be due, once the group is
  // stored.
  StreamOffsets next_;
  std::vector<Reply> waiting_;
  std::vector<Reply> replies_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_STORE_KERNEL_H_
