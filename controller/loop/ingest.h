// Writes telemetry and logs to the stores. One thread writes everything received since its last
// write in one transaction. The rules are in controller/kernel/store_kernel.h.
#ifndef TRAINYARD_CONTROLLER_LOOP_INGEST_H_
#define TRAINYARD_CONTROLLER_LOOP_INGEST_H_

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
#include "controller/api/context/storage_health.h"
#include "controller/core/support/stream_key.h"
#include "controller/kernel/store_kernel.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Totals since the start, and the current size of the queue.
struct IngestStatistics {
  int64_t queued_items = 0;
  int64_t queued_bytes = 0;
  // The amounts that were stored.
  int64_t telemetry_bytes = 0;
  int64_t log_bytes = 0;
  int64_t points = 0;
  // The number of store operations that failed and were retried.
  int64_t failed_writes = 0;
};

// Thread-safe. Callers limit the queue: the controller stops reading from a worker while too much
// of that worker's data waits here (worker_control_service.cpp). If a store fails, the write is
// retried with growing delays until it succeeds or Stop is called. Nothing is dropped, because
// workers keep data that is not acknowledged.
//
// If stored data of a stream is damaged (DATA_LOSS, which is never transient), the stream is
// quarantined: its worker keeps the data until a backup is restored. Other streams continue.
class Ingest {
 public:
  // The store to which a transaction wrote.
  enum class Write { kMetrics, kLogs };
  static StoreName StoreOf(Write write);

  // The functions are called on the storage thread. Each function may be empty.
  struct Handler {
    // Called after output of the job was stored.
    std::function<void(int64_t job_id)> on_output;
    // Called after metric points of the job were stored. `step` is the step of the newest point.
    std::function<void(int64_t job_id, int64_t step)> on_points;
    // Called after a successful write.
    std::function<void(Write write, double seconds)> on_write;
    // Called after the store has become durable up to `mark`.
    std::function<void(Write write, const StoreMark& mark)> on_position;
  };

  // The stores and `health` must outlive this object.
  Ingest(MetricStore& metrics, LogStore& logs, StorageHealth& health, Handler handler);
  // Stops.
  ~Ingest();

  // Calls `stored` on the storage thread after the batch was stored or refused. Does not call it if
  // Stop is called first.
  void AddTelemetry(v1::TelemetryBatch batch, Stored stored);
  void AddOutput(v1::LogChunk chunk, Stored stored);

  // Calls `done` on the storage thread with the stored offset of each stream, after everything
  // added before is stored. If a store refuses writes, calls `done` immediately with the current
  // offsets. This is safe: bytes that arrive twice are skipped. Omits streams whose offset cannot
  // be read.
  void ReadOffsets(std::vector<StreamKey> streams,
                   std::function<void(const StreamOffsets& offsets)> done);

  // Sets `mark` as the newest durable position of the event log. The stores save the mark with
  // their next append, or separately within a second (store_mark.h). May be called on any thread.
  void NoteLogMark(const v1::LogMark& mark);

  IngestStatistics Statistics();

  // Writes the queued items if the stores work, and then ends the thread.
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
  // Waits until there are items or Stop is called. Returns false if a mark must be written first.
  bool WaitForItems(std::unique_lock<std::mutex>& lock);
  void WriteMarks();
  // Passes the newest mark to the stores.
  void GiveMark();
  // Reports the position of the store after a write to it. All data up to the position is durable.
  void Positioned(Write write);
  void StoreTaken();
  // Adds a TelemetryItem or OutputItem to the group.
  template <typename DataItem>
  void AddTo(const StreamKey& stream, DataItem item);
  // Reads the stream's offset. Returns false if Stop was called before the offset could be read.
  bool LearnOffset(const StreamKey& stream);
  void WriteGroup();
  void Reply();
  // Returns false if Stop was called.
  template <typename Batch>
  bool WriteBatches(Write write, const std::vector<Batch>& batches,
                    const std::function<absl::Status(const std::vector<Batch>&)>& append);
  absl::Status WriteStore(Write write, const std::function<absl::Status()>& append);
  // Retries `action` until it succeeds, finds damage (DATA_LOSS), or Stop is called (CANCELLED).
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
  // If there is no data to write, the mark is written separately after this time.
  std::chrono::steady_clock::time_point mark_due_;

  // Items taken from the queue but not handled yet. Used on the storage thread only.
  std::deque<Item> taken_;
  StoreKernel kernel_;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_INGEST_H_
