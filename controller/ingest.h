// Telemetry and output on their way into the stores: one thread, which writes whatever has come in
// since its last write as one transaction.
#ifndef TRAINYARD_CONTROLLER_INGEST_H_
#define TRAINYARD_CONTROLLER_INGEST_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/storage_health.h"
#include "controller/store/log_store.h"
#include "controller/store/metric_store.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// The points that a batch of telemetry puts into the metric store.
MetricBatch ToMetricBatch(const v1::TelemetryBatch& batch);

// Totals since the start, and what waits now.
struct IngestStatistics {
  int64_t queued_items = 0;
  int64_t queued_bytes = 0;
  // Stored.
  int64_t telemetry_bytes = 0;
  int64_t log_bytes = 0;
  int64_t points = 0;
  // Writes that a store refused and that were tried again.
  int64_t failed_writes = 0;
};

// Thread-safe. Its queue is bounded by its callers: the controller stops reading from a worker
// while too much of what the worker sent waits here (worker_control_service.cpp). A store that
// fails is retried with growing delays until it works or Stop: nothing is dropped, workers keep
// what was not acknowledged.
//
// A stream whose place in the store is damaged (DATA_LOSS, which is never a passing error) is
// quarantined: its worker keeps the data until a backup is restored. All other streams go on.
class Ingest {
 public:
  // Bytes of the stream that are stored now, or the error: OUT_OF_RANGE when bytes before these are
  // missing, DATA_LOSS when the stream is quarantined. Called on the storage thread; not called at
  // all when Stop came first.
  using Stored = std::function<void(const absl::StatusOr<int64_t>& offset)>;
  using Offsets = std::map<StreamKey, int64_t>;

  // Store that one transaction wrote to, and the duration of the transaction.
  enum class Write { kMetrics, kLogs };
  using ObserveWrite = std::function<void(Write write, double seconds)>;

  // `on_output` is called on the storage thread when output of a job has been stored, `on_write`,
  // which may be empty, after each write that succeeded. The stores and `health` outlive this.
  Ingest(MetricStore& metrics, LogStore& logs, StorageHealth& health,
         std::function<void(int64_t job_id)> on_output, ObserveWrite on_write = nullptr);
  // Stops.
  ~Ingest();

  void AddTelemetry(v1::TelemetryBatch batch, Stored stored);
  void AddOutput(v1::LogChunk chunk, Stored stored);

  // Calls `done` on the storage thread with the stored offset of each stream, once everything added
  // before is stored. While a store refuses writes these are the offsets of now: bytes received
  // twice are skipped. A stream whose offset cannot be read is left out.
  void ReadOffsets(std::vector<StreamKey> streams,
                   std::function<void(const Offsets& offsets)> done);

  IngestStatistics Statistics();

  // Writes what is queued if the stores work, then ends the thread.
  void Stop();

 private:
  struct Telemetry {
    v1::TelemetryBatch batch;
    Stored stored;
  };
  struct Output {
    v1::LogChunk chunk;
    Stored stored;
  };
  struct OffsetsQuestion {
    std::vector<StreamKey> streams;
    std::function<void(const Offsets&)> done;
  };
  using Item = std::variant<Telemetry, Output, OffsetsQuestion>;

  // Acknowledgement to send once the stream is stored up to `offset`.
  struct Reply {
    Stored stored;
    StreamKey stream;
    int64_t offset = 0;
  };

  // Content of one transaction in each store, and the acknowledgements that follow it.
  struct Group {
    std::vector<MetricBatch> metrics;
    std::vector<LogBatch> logs;
    std::vector<Reply> answers;
    // Stored offsets of the streams once the group is written.
    Offsets next;
    std::set<int64_t> jobs_with_output;
  };

  static int64_t BytesOf(const Item& item);
  void Add(Item item);
  void CountStored(const Group& group);
  void Run();
  void StoreTaken();
  void AddTo(Group& group, Telemetry telemetry);
  void AddTo(Group& group, Output output);
  // Offset at which the stream's next bytes belong. Nullopt when no bytes are accepted: the stream
  // is quarantined, and `stored` was called with the damage, or this is stopped.
  std::optional<int64_t> Admit(const Group& group, const StreamKey& stream, const Stored& stored);
  void WriteGroup(Group& group);
  // False when this is stopped.
  template <typename Batch>
  bool WriteBatches(Write write, const std::vector<Batch>& batches,
                    const std::function<absl::Status(const std::vector<Batch>&)>& append);
  absl::Status WriteStore(Write write, const std::function<absl::Status()>& append);
  // Tries again until it succeeds, meets damage (DATA_LOSS), or this is stopped (CANCELLED).
  absl::Status TryUntilDone(Write store, const std::function<absl::Status()>& action);
  bool WaitToRetry(std::chrono::milliseconds wait);
  void Quarantine(Write write, const StreamKey& stream, const absl::Status& damage);
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream);
  void AnswerWaiting();
  void Answer(const OffsetsQuestion& question);

  MetricStore& metrics_;
  LogStore& logs_;
  StorageHealth& health_;
  const std::function<void(int64_t)> on_output_;
  const ObserveWrite on_write_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Item> queue_;
  int queued_questions_ = 0;
  IngestStatistics statistics_;
  bool stopping_ = false;

  // Storage thread only: items taken from the queue and not handled yet; cached offsets of stored
  // streams; streams that cannot be stored, with their damage.
  std::deque<Item> taken_;
  Offsets stored_;
  std::map<StreamKey, absl::Status> quarantined_;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_INGEST_H_
