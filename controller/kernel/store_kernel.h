// The rules by which telemetry and output reach the stores: each byte of a stream once, in order,
// and acknowledged after it is stored. The shell reads offsets, writes and retries.
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
#include "controller/kernel/worker_actions.h"
#include "controller/store/log_store.h"
#include "controller/store/metric_store.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Bytes of the stream that are stored, or the error: OUT_OF_RANGE when bytes before the sent ones
// are missing, DATA_LOSS when the stream is quarantined.
using Stored = std::function<void(const absl::StatusOr<int64_t>& offset)>;

struct TelemetryItem {
  v1::TelemetryBatch batch;
  Stored stored;
};
struct OutputItem {
  v1::LogChunk chunk;
  Stored stored;
};

// False for output, which the log store holds.
bool IsMetricStream(const StreamKey& stream);

// The points that a batch of telemetry puts into the metric store.
MetricBatch ToMetricBatch(const v1::TelemetryBatch& batch);

class StoreKernel {
 public:
  // A call to make: `stored` with the result.
  struct Reply {
    Stored stored;
    StreamKey stream;
    absl::StatusOr<int64_t> result;
  };

  // One transaction in each store.
  struct Group {
    std::vector<MetricBatch> metrics;
    std::vector<LogBatch> logs;
    // Jobs that get new output, and those that get points with the newest step of these.
    std::set<int64_t> jobs_with_output;
    std::map<int64_t, int64_t> newest_steps;
  };

  // False when the store must be asked for the stream's offset (SetOffset) before anything of the
  // stream is added.
  bool Knows(const StreamKey& stream) const;
  void SetOffset(const StreamKey& stream, int64_t offset) { stored_[stream] = offset; }
  // The stream's place in the store is damaged: nothing of it is stored or acknowledged from now
  // on. False when it was known.
  bool Quarantine(const StreamKey& stream, const absl::Status& damage);
  bool IsQuarantined(const StreamKey& stream) const { return quarantined_.contains(stream); }
  // Stored offset of a stream, without the bytes of the group; nullopt when the store must be
  // asked.
  std::optional<int64_t> StoredOffset(const StreamKey& stream) const;

  // Adds to the group. Bytes that are stored are skipped, bytes that do not follow are refused.
  void Add(TelemetryItem item);
  void Add(OutputItem item);

  bool HasGroup() const { return !waiting_.empty(); }
  const Group& group() const { return group_; }
  // The group is stored, except for streams that were quarantined. Returns it and begins a new one.
  Group GroupStored();

  // Calls to make now, in order.
  std::vector<Reply> TakeReplies() { return std::exchange(replies_, {}); }

 private:
  // Offset at which the stream's next bytes belong.
  int64_t NextOffset(const StreamKey& stream) const;
  // True when [begin, end) is to be stored; else the reply is added. `next`: the stored offset.
  bool Admit(const StreamKey& stream, int64_t begin, int64_t end, Stored& stored);

  // Cached offsets of stored streams, and streams that cannot be stored, with their damage.
  StreamOffsets stored_;
  std::map<StreamKey, absl::Status> quarantined_;
  Group group_;
  // Offsets of the streams once the group is stored, and the replies that follow it.
  StreamOffsets next_;
  std::vector<Reply> waiting_;
  std::vector<Reply> replies_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_STORE_KERNEL_H_
