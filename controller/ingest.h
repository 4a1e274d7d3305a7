// Telemetry and output on their way into the stores: one thread, which writes whatever has come in
// since its last write as one transaction. The rules are in controller/kernel/store_kernel.h.
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
#include "controller/kernel/store_kernel.h"
#include "controller/store/log_store.h"
#include "controller/store/metric_store.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

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
  // Store that one transaction wrote to, and the duration of the transaction.
  enum class Write { kMetrics, kLogs };
  static StoreName StoreOf(Write write);

  // Called on the storage thread; each may be empty.
  struct Handler {
    // Output of the job has been stored.
    std::function<void(int64_t job_id)> on_output;
    // Metric points of the job have been stored; the newest one is of `step`.
    std::function<void(int64_t job_id, int64_t step)> on_points;
    // A write succeeded.
    std::function<void(Write write, double seconds)> on_write;
    // The store is durable up to this position.
    std::function<void(Write write, const StoreMark& mark)> on_position;
  };

  // The stores and `health` outlive this.
  Ingest(MetricStore& metrics, LogStore& logs, StorageHealth& health, Handler handler);
  // Stops.
  ~Ingest();

  // `stored` is called on the storage thread; not at all when Stop came first.
  void AddTelemetry(v1::TelemetryBatch batch, Stored stored);
  void AddOutput(v1::LogChunk chunk, Stored stored);

  // Calls `done` on the storage thread with the stored offset of each stream, once everything added
  // before is stored. While a store refuses writes these are the offsets of now: bytes received
  // twice are skipped. A stream whose offset cannot be read is left out.
  void ReadOffsets(std::vector<StreamKey> streams,
                   std::function<void(const StreamOffsets& offsets)> done);

  // The event log is durable up to this mark, which the stores keep with their next append, within
  // a second (store_mark.h). Any thread.
  void NoteLogMark(const v1::LogMark& mark);

  IngestStatistics Statistics();

  // Writes what is queued if the stores work, then ends the thread.
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
  // Waits for items or a stop. False when a mark is due before either.
  bool WaitForItems(std::unique_lock<std::mutex>& lock);
  void WriteMarks();
  // Gives the newest mark to the stores.
  void GiveMark();
  // Reports the position of a store that has just been written to.
  void Positioned(Write write);
  void StoreTaken();
  // Adds a TelemetryItem or OutputItem to the group.
  template <typename DataItem>
  void AddTo(const StreamKey& stream, DataItem item);
  // False when this is stopped before the stream's offset could be read.
  bool LearnOffset(const StreamKey& stream);
  void WriteGroup();
  void Reply();
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

  // Storage thread only. Items taken from the queue and not handled yet.
  std::deque<Item> taken_;
  StoreKernel kernel_;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_INGEST_H_
