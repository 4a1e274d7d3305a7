// The thread that owns the cluster state. It runs the rules of ticks
// (controller/kernel/tick_kernel.h) with its own clock and timer, and commits all events of a tick
// in one transaction. No result leaves the process before that commit. Requests that arrive during
// a commit are handled together in the next tick.
//
// The loop works in passes. A pass handles waiting user requests, then worker messages, then a
// tick. Each part has a limit, so that neither users nor workers can starve the other.
//
// While the event log's disk is full, the state does not change: a tick whose commit failed is
// undone by replaying the log. Changes by users are refused, facts and telemetry of workers wait,
// and all reads work.
#ifndef TRAINYARD_CONTROLLER_LOOP_LOOP_H_
#define TRAINYARD_CONTROLLER_LOOP_LOOP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/api/context/cluster_loop.h"
#include "controller/api/context/storage_health.h"
#include "controller/kernel/replayed_state.h"
#include "controller/kernel/tick_kernel.h"
#include "controller/loop/loop_queue.h"
#include "controller/loop/retry_backoff.h"
#include "controller/loop/snapshot_writer.h"
#include "controller/store/events/event_log.h"
#include "proto/support/clock.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

struct LoopOptions {
  CoreOptions core;
  // The interval between ticks if no request arrives.
  std::chrono::milliseconds tick_interval{200};
  // The minimum number of events between two snapshots. If the number of jobs and nodes is larger,
  // that number is used instead.
  uint64_t events_per_snapshot = 10'000;
};

// The kinds of work that are timed. The loop only requests snapshots; the SnapshotWriter thread
// writes them.
enum class LoopWork { kTick, kCommit, kSnapshot };

class Loop final : public ClusterLoop {
 public:
  // Rebuilds the state from the log. Returns errors of the log, such as DATA_LOSS, unchanged.
  // `event_log` and `clock` must outlive the loop. If `replayed` is not null, moves from it, and
  // only adds the events after it.
  static absl::StatusOr<std::unique_ptr<Loop>> Recover(EventLog& event_log, const Clock& clock,
                                                       LoopOptions options,
                                                       ReplayedState* replayed = nullptr);

  // Sets the object to which the loop reports whether the event log is writable. Call before Start.
  // `health` must outlive the loop.
  void ReportHealthTo(StorageHealth& health) { health_ = &health; }

  // Stops.
  ~Loop() override;

  void Start();
  // Runs the posted work, and then ends the thread. No work may be posted afterwards.
  void Stop();

  void Read(std::function<void(const ClusterView& view)> work) override;
  void Submit(Request request, RequestDone done) override;
  void Listen(TickListener listener) override;

  // Queues `work` for the loop thread, ahead of worker messages. May be called on any thread.
  void Post(std::function<void()> work);
  // Queues the handling of a worker message for the loop thread, behind the waiting requests.
  // Messages of one stream keep their order, and streams take turns. `worker` identifies the
  // stream. May be called on any thread.
  void PostFromWorker(const void* worker, std::function<void()> work);

  // Returns true if no event was ever committed. Call before Start.
  bool LogIsEmpty() const { return tick_.last_sequence() == 0; }

  // Sets CoreOptions::rendezvous_offset. The offset depends on the cluster id, which is known only
  // after the log was read. Call before Start.
  void SetRendezvousOffset(int64_t offset) { tick_.options().rendezvous_offset = offset; }

  // Sets a function that is called at the beginning of each tick. Call before Start.
  void BeforeTick(std::function<void(Timestamp now)> prepare) { before_tick_ = std::move(prepare); }

  // Sets a function that receives the duration of each piece of work. The function is called on the
  // SnapshotWriter thread for snapshots, and on the loop thread for other work. Call before Start.
  void TimeWork(std::function<void(LoopWork work, double seconds)> observe) {
    observe_work_ = std::move(observe);
  }

  // The functions below may be called only on the loop thread or before Start:

  // Makes the next tick run now instead of at the next interval.
  void ScheduleTick();
  // Submits the request ahead of all waiting requests.
  void SubmitAtOnce(Request request, RequestDone done);
  ClusterView View() const;
  Observations& observations() { return tick_.observations(); }

 private:
  struct Asio;

  using Steady = std::chrono::steady_clock;

  Loop(EventLog& event_log, const Clock& clock, LoopOptions options);

  absl::StatusOr<ClusterState> Replay();
  // Adds the events after `replayed`. Any error: `replayed` does not fit the log.
  absl::StatusOr<ClusterState> Continue(ReplayedState& replayed);
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
  // Returns the controller's time (cluster_clock.h), not the wall-clock time.
  Timestamp Now() const { return tick_.TimeAt(clock_.Read()); }

  EventLog& event_log_;
  const Clock& clock_;
  const LoopOptions options_;
  const std::unique_ptr<Asio> asio_;
  std::function<void(Timestamp)> before_tick_;
  std::function<void(LoopWork, double)> observe_work_;
  // The number of user requests that are not answered yet.
  std::atomic<int> waiting_requests_{0};
  LoopQueue queue_;
  SnapshotWriter snapshots_;

  // Used only on the loop thread.
  TickKernel tick_;
  // The sequence number of the last event that Replay read from the log.
  uint64_t replayed_sequence_ = 0;
  uint64_t snapshot_sequence_ = 0;
  bool tick_scheduled_ = false;
  Steady::time_point retry_space_at_;
  RetryBackoff space_backoff_;
  // True if the disk seems to have free space again, but no commit has confirmed it yet.
  bool space_unconfirmed_ = false;
  StorageHealth* health_ = nullptr;

  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_LOOP_H_
