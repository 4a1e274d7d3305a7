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

// Thread-safe. Its queue is bounded by its callers: a worker is read no more while too much of what
// it sent waits here (worker_control_service.cpp). A store that fails is tried again, more and more
// slowly, until it works or Stop: nothing is dropped, workers keep what was not acknowledged.
//
// A stream whose place in the store is damaged (DATA_LOSS, which is never a passing error) is set
// aside, so that its worker keeps it for the day when a backup is restored; all others go on.
class Ingest {
 public:
  // Bytes of the stream that are stored now, or why these cannot be: OUT_OF_RANGE when bytes before
  // them are missing, DATA_LOSS when the stream is set aside. Called on the storage thread, not at
  // all when Stop came first.
  using Stored = std::function<void(const absl::StatusOr<int64_t>& offset)>;
  using Offsets = std::map<StreamKey, int64_t>;

  // Which store was written to, and what one transaction took.
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

  // How far each stream is stored once everything added before is; while a store refuses writes,
  // how far it is now: bytes that come again are skipped. A stream whose offset cannot be read is
  // left out. On the storage thread.
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

  // What a sender is told once its stream is stored so far.
  struct Reply {
    Stored stored;
    StreamKey stream;
    int64_t offset = 0;
  };

  // What one transaction in each store will write, and whom to tell.
  struct Group {
    std::vector<MetricBatch> metrics;
    std::vector<LogBatch> logs;
    std::vector<Reply> answers;
    // Offsets that hold once it is written.
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
  // Where the stream's next bytes belong; nullopt when they are not wanted: the stream is set
  // aside, and `stored` was told so, or this is stopped.
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

  // Storage thread only: what was taken from the queue and is not dealt with yet; stored offsets,
  // as far as they were asked for; streams that cannot be stored because of damage, and which.
  std::deque<Item> taken_;
  Offsets stored_;
  std::map<StreamKey, absl::Status> quarantined_;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_INGEST_H_
