// The one thread that owns the cluster state. It runs the tick rules
// (controller/kernel/tick_kernel.h) with its clock and timer, and commits the events of a tick in
// one transaction. Nothing leaves the process before that commit. Requests that arrive during a
// commit share the next one.
//
// The loop works in passes: waiting user requests, then worker messages, then a tick. Each part has
// a limit, so neither side can starve the other.
//
// While the event log's disk is full, the state does not change. The tick whose commit failed is
// undone by replaying the log. Changes by users are refused, workers' facts and telemetry wait, and
// all reads work.
#ifndef TRAINYARD_CONTROLLER_LOOP_H_
#define TRAINYARD_CONTROLLER_LOOP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/cluster_loop.h"
#include "controller/api/storage_health.h"
#include "controller/kernel/tick_kernel.h"
#include "controller/loop_queue.h"
#include "controller/retry_backoff.h"
#include "controller/snapshot_writer.h"
#include "controller/store/events/event_log.h"
#include "proto/support/clock.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

struct LoopOptions {
  CoreOptions core;
  // Interval between ticks when no request arrives.
  std::chrono::milliseconds tick_interval{200};
  // Minimum number of events between two snapshots. The actual number is at least the number of
  // jobs and nodes.
  uint64_t events_per_snapshot = 10'000;
};

// Kinds of work that are timed. The loop only requests snapshots; the SnapshotWriter thread writes
// them.
enum class LoopWork { kTick, kCommit, kSnapshot };

class Loop final : public ClusterLoop {
 public:
  // Rebuilds the state from the log. Returns errors of the log, such as DATA_LOSS, unchanged.
  // `event_log` and `clock` must outlive the loop.
  static absl::StatusOr<std::unique_ptr<Loop>> Recover(EventLog& event_log, const Clock& clock,
                                                       LoopOptions options);

  // Reports to `health` whether the event log is writable. Call before Start. `health` must outlive
  // the loop.
  void ReportHealthTo(StorageHealth& health) { health_ = &health; }

  // Stops.
  ~Loop() override;

  void Start();
  // Runs the work already posted, then ends the thread. Nothing may be posted afterwards.
  void Stop();

  void Read(std::function<void(const ClusterView& view)> work) override;
  void Submit(Request request, RequestDone done) override;
  void Listen(TickListener listener) override;

  // Calls `work` on the loop thread, before worker messages. Any thread.
  void Post(std::function<void()> work);
  // Calls `work` for a worker message, after the waiting requests. Messages of one stream keep
  // their order, and streams take turns. `worker` identifies the stream. Any thread.
  void PostFromWorker(const void* worker, std::function<void()> work);

  // True if nothing was ever committed. Call before Start.
  bool LogIsEmpty() const { return tick_.last_sequence() == 0; }

  // Sets CoreOptions::rendezvous_offset. It depends on the cluster id, which is known only after
  // the log is read. Call before Start.
  void SetRendezvousOffset(int64_t offset) { tick_.options().rendezvous_offset = offset; }

  // Calls `prepare` at the beginning of each tick. Set before Start.
  void BeforeTick(std::function<void(Timestamp now)> prepare) { before_tick_ = std::move(prepare); }

  // Calls `observe` with the duration of each piece of work: snapshots on the SnapshotWriter
  // thread, the rest on the loop thread. Set before Start.
  void TimeWork(std::function<void(LoopWork work, double seconds)> observe) {
    observe_work_ = std::move(observe);
  }

  // Call on the loop thread only, or before Start:

  // Requests a tick now instead of at the next interval.
  void ScheduleTick();
  // Submits at once instead of queuing behind the waiting requests.
  void SubmitAtOnce(Request request, RequestDone done);
  ClusterView View() const;
  Observations& observations() { return tick_.observations(); }

 private:
  struct Asio;

  using Steady = std::chrono::steady_clock;

  Loop(EventLog& event_log, const Clock& clock, LoopOptions options);

  absl::StatusOr<ClusterState> Replay();
  void StartPass();
  void RunPass();
  void RunRequests();
  void RunMessages();
  void RunWaiting();
  void Tick();
  bool Commit(const std::vector<LogRecord>& events, const std::vector<v1::ArchivedJob>& archived);
  void UndoTick(const absl::Status& cause);
  bool HasSpace();
  void ConfirmSpace();
  void AnswerWithoutSpace();
  void RetrySpaceLater(const absl::Status& cause);
  void ReportHealth(const absl::Status& status);
  void RequestSnapshotIfDue();
  void StartTimer();
  // The controller's time (cluster_clock.h), not wall-clock time.
  Timestamp Now() const { return tick_.TimeAt(clock_.Read()); }

  EventLog& event_log_;
  const Clock& clock_;
  const LoopOptions options_;
  const std::unique_ptr<Asio> asio_;
  std::function<void(Timestamp)> before_tick_;
  std::function<void(LoopWork, double)> observe_work_;
  // User requests not yet answered.
  std::atomic<int> waiting_requests_{0};
  LoopQueue queue_;
  SnapshotWriter snapshots_;

  // Loop thread only.
  TickKernel tick_;
  // Sequence number of the last event that Replay read from the log.
  uint64_t replayed_sequence_ = 0;
  uint64_t snapshot_sequence_ = 0;
  bool tick_scheduled_ = false;
  Steady::time_point retry_space_at_;
  RetryBackoff space_backoff_;
  // The disk has free space again, but no commit has confirmed it yet.
  bool space_unconfirmed_ = false;
  StorageHealth* health_ = nullptr;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_H_
