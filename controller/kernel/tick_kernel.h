// The rules of one tick: decide the received requests, plan due events, and answer callers and
// notify listeners only once all events are committed.
//
// No thread, clock or disk. The sequence of a tick: BeginTick, ExcuseOwnStall, Decide, then exactly
// one of Committed and Undone. While the disk is full, AnswerWithoutSpace replaces Decide.
#ifndef TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_
#define TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/archive.h"
#include "controller/core/decide/decide.h"
#include "controller/core/observations/cluster_clock.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/log_record.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

class TickKernel {
 public:
  explicit TickKernel(CoreOptions options) : options_(std::move(options)) {}

  // Sets the state, which was replayed from the event log up to event `last_sequence`.
  void Restore(ClusterState state, uint64_t last_sequence);
  // Sets the clocks that continue the state's time. Call after Restore.
  void StartClock(const std::string& boot_id, const ClockReading& reading);
  // The controller's time (cluster_clock.h).
  Timestamp TimeAt(const ClockReading& reading) const { return clock_.TimeAt(reading); }
  // Call when the controller starts to receive messages.
  void Start(Timestamp now);

  // Workers' requests have their own queue, so that a flood of them delays no user.
  void Submit(Request request, RequestDone done);
  // Requests waiting for a tick, except held submissions.
  std::size_t waiting() const { return requests_.size() + worker_requests_.size(); }
  void Listen(TickListener listener) { listeners_.push_back(std::move(listener)); }

  // Begins a tick and returns its time. If the wall clock was set, the tick's first event records
  // the step, and all times shift by it.
  Timestamp BeginTick(const ClockReading& reading);

  // Detects a stall of the controller (a slow disk, a paused machine), during which no heartbeat
  // could be received. The stall does not count as time without a heartbeat. Returns the time since
  // the last tick in milliseconds, or 0 if there was no stall.
  int64_t ExcuseOwnStall(Timestamp now);

  // Decides the oldest requests (users' before workers'), plans due events, and returns the events
  // to commit. Each kind of request has a limit per tick, so that neither starves the other.
  const std::vector<LogRecord>& Decide(Timestamp now);
  // The tick's event for a wall clock step or a new boot, if any.
  const std::optional<v1::ClockSet>& clock_set() const { return clock_set_; }
  // Jobs that leave the state with these events. Add them to the archive together with the events.
  const std::vector<v1::ArchivedJob>& archived() const { return archived_; }
  // Number of user requests in the last Decide.
  std::size_t decided_of_users() const;
  // False if planning in the last Decide reached its limit of passes; it continues in the next
  // tick.
  bool at_rest() const { return at_rest_; }

  // Call when the events are durable. Answers their requests and notifies the listeners.
  void Committed(Timestamp now);
  // Call when the events could not be stored and none of them is in the log. `replayed` is the
  // state of the log. The requests are queued again, and a clock step of this tick is reverted.
  void Undone(ClusterState replayed, const absl::Status& cause);

  // OK, or the reason why nothing can be committed at present.
  const absl::Status& no_space() const { return no_space_; }
  void SetNoSpace(const absl::Status& cause);
  // Call when the disk seems to have free space again. Nothing is planned until the workers'
  // requests that waited for free space are decided.
  void SpaceIsBack(Timestamp now);
  // Answers requests while the disk is full. Requests that change nothing are answered as usual,
  // and changes by users are refused. Workers' facts and telemetry wait. A restarted worker is
  // admitted, and its NodeJoined waits. Returns the number of answered user requests.
  std::size_t AnswerWithoutSpace(Timestamp now);

  ClusterView View(Timestamp now) const {
    return {state_, observations_, options_, schedule_, now, last_sequence_};
  }
  const ClusterState& state() const { return state_; }
  uint64_t last_sequence() const { return last_sequence_; }
  Observations& observations() { return observations_; }
  // Modify only before Start.
  CoreOptions& options() { return options_; }

 private:
  static constexpr uint64_t kForgetEvery = 1000;

  struct Pending {
    Request request;
    RequestDone done;
    // The worker was admitted while the disk was full, but its event is not committed yet.
    bool admitted = false;
  };
  using Queue = std::deque<Pending>;
  // Result of a request, with the range of its events within the tick's events.
  struct Decision {
    absl::Status status;
    std::size_t first_event = 0;
    std::size_t events = 0;
  };

  void ShiftTimes(int64_t step_ms);
  void TakeClockSet(Timestamp now);
  void HoldSubmissions(Timestamp now);
  void TakeBatch(Timestamp now);
  void TakeFrom(Queue& queue, std::size_t limit);
  void AnswerWithoutSpace(Pending pending, Timestamp now);
  void AnswerWorkersWithoutSpace(Timestamp now);
  void DeferAttach(Pending pending, Timestamp now);
  void DecideBatch(Timestamp now);
  void Take(v1::Event event);
  void Plan(Timestamp now);
  void Archive(Timestamp now);
  void AnswerBatch(Timestamp now);
  void NotifyListeners(Timestamp now);

  CoreOptions options_;
  ClusterState state_;
  Observations observations_;
  // Result of the newest Reconcile.
  Schedule schedule_;
  uint64_t last_sequence_ = 0;
  ClusterClock clock_;
  Timestamp last_tick_ms_ = 0;
  // Sequence number from which observations of jobs and nodes that have left the state are
  // forgotten.
  uint64_t forget_at_ = kForgetEvery;
  Queue requests_;  // Requests of users and of the controller itself.
  Queue worker_requests_;
  // Submissions waiting until the log is confirmed (lost_history.h).
  Queue held_;
  absl::Status no_space_;
  // Workers' requests that waited for free space and are still undecided.
  std::size_t catching_up_ = 0;
  std::vector<TickListener> listeners_;
  ArchiveCursor archive_cursor_;

  // Data of the current tick.
  std::optional<v1::ClockSet> clock_set_;
  int64_t moved_ms_ = 0;  // Shift of all times by clock_set_.
  std::vector<Pending> batch_;
  std::vector<Decision> decisions_;
  std::vector<v1::Event> events_;  // JobSubmitted without its spec, which is in the state.
  std::vector<LogRecord> records_;
  std::vector<v1::ArchivedJob> archived_;
  bool at_rest_ = true;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_
