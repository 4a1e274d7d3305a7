// The rules for storing telemetry and output: each byte of a stream is stored once, in order, and
// acknowledged afterwards. The caller reads offsets, writes and retries.
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

// Receives the number of stored bytes of the stream, or an error: OUT_OF_RANGE if bytes before the
// sent ones are missing, DATA_LOSS if the stream is quarantined.
using Stored = std::function<void(const absl::StatusOr<int64_t>& offset)>;

struct TelemetryItem {
  v1::TelemetryBatch batch;
  Stored stored;
};
struct OutputItem {
  v1::LogChunk chunk;
  Stored stored;
};

// False for output, which goes to the log store.
bool IsMetricStream(const StreamKey& stream);

// The metric points of a telemetry batch.
MetricBatch ToMetricBatch(const v1::TelemetryBatch& batch);

class StoreKernel {
 public:
  // A pending call of `stored` with `result`.
  struct Reply {
    Stored stored;
    StreamKey stream;
    absl::StatusOr<int64_t> result;
  };

  // Data written in one transaction per store.
  struct Group {
    std::vector<MetricBatch> metrics;
    std::vector<LogBatch> logs;
    // Jobs with new output, and jobs with new points (with the newest step of these points).
    std::set<int64_t> jobs_with_output;
    std::map<int64_t, int64_t> newest_steps;
  };

  // False if SetOffset must be called with the stored offset before anything of the stream is
  // added.
  bool Knows(const StreamKey& stream) const;
  void SetOffset(const StreamKey& stream, int64_t offset) { stored_[stream] = offset; }
  // Call if the stream's stored data is damaged. Nothing of the stream is stored or acknowledged
  // from then on. Returns false if the stream was already quarantined.
  bool Quarantine(const StreamKey& stream, const absl::Status& damage);
  bool IsQuarantined(const StreamKey& stream) const { return quarantined_.contains(stream); }
  // Stored offset of the stream, not counting the current group; nullopt if it is not cached.
  std::optional<int64_t> StoredOffset(const StreamKey& stream) const;

  // Adds to the group. Stored bytes are skipped; bytes after a gap are refused.
  void Add(TelemetryItem item);
  void Add(OutputItem item);

  bool HasGroup() const { return !waiting_.empty(); }
  const Group& group() const { return group_; }
  // Call once the group is stored, except for quarantined streams. Returns the group and starts a
  // new one.
  Group GroupStored();

  // Calls to make now, in order.
  std::vector<Reply> TakeReplies() { return std::exchange(replies_, {}); }

 private:
  // Offset of the next byte of the stream to add.
  int64_t NextOffset(const StreamKey& stream) const;
  // Returns true if [begin, end) must be stored. In any case queues the reply.
  bool Admit(const StreamKey& stream, int64_t begin, int64_t end, Stored& stored);

  // Cached offsets of stored streams, and the damage of quarantined streams.
  StreamOffsets stored_;
  std::map<StreamKey, absl::Status> quarantined_;
  Group group_;
  // Stream offsets once the group is stored, and the replies to send then.
  StreamOffsets next_;
  std::vector<Reply> waiting_;
  std::vector<Reply> replies_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_STORE_KERNEL_H_
