// Writes telemetry and logs to the stores. One thread writes everything received since its last
// write in one transaction. The rules are in controller/kernel/store_kernel.h.
#ifndef TRAINYARD_CONTROLLER_INGEST_H_
#define TRAINYARD_CONTROLLER_INGEST_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/storage_health.h"
#include "controller/core/support/stream_key.h"
#include "controller/kernel/store_kernel.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Totals since the start, and the current queue.
struct IngestStatistics {
  int64_t queued_items = 0;
  int64_t queued_bytes = 0;
  // Stored bytes and points.
  int64_t telemetry_bytes = 0;
  int64_t log_bytes = 0;
  int64_t points = 0;
  // Number of failed and retried store operations.
  int64_t failed_writes = 0;
};

// Thread-safe. Callers bound the queue: the controller stops reading from a worker while too much
// of that worker's data waits here (worker_control_service.cpp). A failing store is retried with
// growing delays until it works or Stop is called. Nothing is dropped; workers keep data that is
// not acknowledged.
//
// A stream whose stored data is damaged is quarantined (DATA_LOSS, which is never transient). Its
// worker keeps the data until a backup is restored. Other streams continue.
class Ingest {
 public:
  // The store that a transaction wrote to.
  enum class Write { kMetrics, kLogs };
  static StoreName StoreOf(Write write);

  // Called on the storage thread; each may be empty.
  struct Handler {
    // Output of the job was stored.
    std::function<void(int64_t job_id)> on_output;
    // Metric points of the job were stored; `step` is the newest point's step.
    std::function<void(int64_t job_id, int64_t step)> on_points;
    // A write succeeded.
    std::function<void(Write write, double seconds)> on_write;
    // The store is durable up to `mark`.
    std::function<void(Write write, const StoreMark& mark)> on_position;
  };

  // The stores and `health` must outlive this object.
  Ingest(MetricStore& metrics, LogStore& logs, StorageHealth& health, Handler handler);
  // Stops.
  ~Ingest();

  // `stored` is called on the storage thread, or never if Stop is called first.
  void AddTelemetry(v1::TelemetryBatch batch, Stored stored);
  void AddOutput(v1::LogChunk chunk, Stored stored);

  // Calls `done` on the storage thread with the stored offset of each stream, once everything added
  // before is stored. While a store refuses writes, `done` gets the current offsets at once: bytes
  // received twice are skipped. A stream whose offset cannot be read is omitted.
  void ReadOffsets(std::vector<StreamKey> streams,
                   std::function<void(const StreamOffsets& offsets)> done);

  // Records that the event log is durable up to `mark`. The stores save the mark with their next
  // append, or alone within a second (store_mark.h). Any thread.
  void NoteLogMark(const v1::LogMark& mark);

  IngestStatistics Statistics();

  // Writes the queued items if the stores work, then ends the thread.
  void Stop();

 private:
  struct OffsetsQuestion {
    std::vector<StreamKey> streams;
    std::function<void(const StreamOffsets&)> done;
  };
  using Item = std::variant<TelemetryItem, OutputItem, OffsetsQuestion>;

  static int64_t BytesOf(const Item& item);
  void Add(Item item);
  void CountStored(const StoreKernel::Group& group);
  void Run();
  // Waits for items or Stop. Returns false if a mark must be written first.
  bool WaitForItems(std::unique_lock<std::mutex>& lock);
  void WriteMarks();
  // Passes the newest mark to the stores.
  void GiveMark();
  // Reports the position up to which the store is durable after a write.
  void Positioned(Write write);
  void StoreTaken();
  // Adds a TelemetryItem or OutputItem to the group.
  template <typename DataItem>
  void AddTo(const StreamKey& stream, DataItem item);
  // Returns false if stopped before the stream's offset could be read.
  bool LearnOffset(const StreamKey& stream);
  void WriteGroup();
  void Reply();
  // Returns false if stopped.
  template <typename Batch>
  bool WriteBatches(Write write, const std::vector<Batch>& batches,
                    const std::function<absl::Status(const std::vector<Batch>&)>& append);
  absl::Status WriteStore(Write write, const std::function<absl::Status()>& append);
  // Retries `action` until it succeeds, finds damage (DATA_LOSS), or this object is stopped
  // (CANCELLED).
  absl::Status TryUntilDone(Write store, const std::function<absl::Status()>& action);
  bool WaitToRetry(std::chrono::milliseconds wait);
  void Quarantine(Write write, const StreamKey& stream, const absl::Status& damage);
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream);
  void AnswerWaiting();
  void Answer(const OffsetsQuestion& question);

  MetricStore& metrics_;
  LogStore& logs_;
  StorageHealth& health_;
  const Handler handler_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Item> queue_;
  int queued_questions_ = 0;
  IngestStatistics statistics_;
  bool stopping_ = false;
  v1::LogMark mark_;
  bool mark_is_new_ = false;
  // Earliest time of the next write of a mark alone.
  std::chrono::steady_clock::time_point mark_due_;

  // Storage thread only. Items taken from the queue and not yet handled.
  std::deque<Item> taken_;
  StoreKernel kernel_;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_INGEST_H_
