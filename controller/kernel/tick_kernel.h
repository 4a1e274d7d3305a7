// The rules of one tick: decide the received requests and plan due events; answer callers and
// notify listeners only after all events are committed.
//
// Uses no thread, clock or disk. A tick calls BeginTick, ExcuseOwnStall, Decide, and then either
// Committed or Undone, in this order. While the disk is full, AnswerWithoutSpace replaces Decide.
#ifndef TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_
#define TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/archive.h"
#include "controller/core/decide/decide.h"
#include "controller/core/event_log/log_record.h"
#include "controller/core/observations/cluster_clock.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

class TickKernel {
 public:
  explicit TickKernel(CoreOptions options) : options_(std::move(options)) {}

  // Sets the state, which was replayed from the event log up to event `last_sequence`.
  void Restore(ClusterState state, uint64_t last_sequence);
  // Sets the clock so that it continues the time of the state. Call after Restore. For
  // `since_newest_ms`, see ClusterClock.
  void StartClock(const std::string& boot_id, const ClockReading& reading,
                  std::optional<int64_t> since_newest_ms = std::nullopt);
  // Returns the controller's time (cluster_clock.h).
  Timestamp TimeAt(const ClockReading& reading) const { return clock_.TimeAt(reading); }
  // Call when the controller starts to receive messages.
  void Start(Timestamp now);

  // Queues a request. Workers' requests have a separate queue, so that many worker requests do not
  // delay users' requests.
  void Submit(Request request, RequestDone done);
  // Returns the number of requests waiting for a tick, not counting held submissions.
  std::size_t waiting() const { return requests_.size() + worker_requests_.size(); }
  void Listen(TickListener listener) { listeners_.push_back(std::move(listener)); }

  // Begins a tick and returns its time. If the wall clock was set, all times are shifted, and the
  // first event of the tick records this.
  Timestamp BeginTick(const ClockReading& reading);

  // Detects a stall of the controller (because of a slow disk or a paused machine). No heartbeat
  // could arrive during the stall, so the stall does not count as time without a heartbeat. Returns
  // the milliseconds since the last tick, or 0 if there was no stall.
  int64_t ExcuseOwnStall(Timestamp now);

  // Decides the oldest requests, plans due events, and returns the events to commit. Users'
  // requests are decided before workers' requests. Each kind of request has a limit per tick, so
  // that neither kind can starve the other.
  const std::vector<LogRecord>& Decide(Timestamp now);
  // Returns the ClockSet event of this tick, if the wall clock was changed or the machine was
  // rebooted.
  const std::optional<v1::ClockSet>& clock_set() const { return clock_set_; }
  // Returns the jobs that the tick's events remove from the state. These jobs must be added to the
  // archive in the same transaction as the events.
  const std::vector<v1::ArchivedJob>& archived() const { return archived_; }
  // Returns the number of user requests that the last Decide handled.
  std::size_t decided_of_users() const;
  // Returns false if planning in the last Decide reached its pass limit. Planning then continues in
  // the next tick.
  bool at_rest() const { return at_rest_; }

  // Call when the events are durable. Answers their requests and notifies the listeners.
  void Committed(Timestamp now);
  // Call if the events could not be stored and none of them is in the log. `replayed` is the state
  // according to the log. The requests are queued again, and a clock change in this tick is
  // reverted.
  void Undone(ClusterState replayed, const absl::Status& cause);

  // Returns OK, or the reason why nothing can be committed at the moment.
  const absl::Status& no_space() const { return no_space_; }
  void SetNoSpace(const absl::Status& cause);
  // Call when the disk seems to have free space again. Workers' requests that waited for free space
  // are decided first. Nothing is planned until all these requests are decided.
  void SpaceIsBack(Timestamp now);
  // Answers requests while the disk is full, and returns the number of answered user requests.
  // Requests that change nothing are answered normally. Changes by users are refused. Facts and
  // telemetry of workers wait. A restarted worker is admitted, but its NodeJoined event waits.
  std::size_t AnswerWithoutSpace(Timestamp now);

  ClusterView View(Timestamp now) const {
    return {state_, observations_, options_, schedule_, now, last_sequence_};
  }
  const ClusterState& state() const { return state_; }
  const Promises& promises() const { return schedule_.promises; }
  uint64_t last_sequence() const { return last_sequence_; }
  Observations& observations() { return observations_; }
  // Modify the options only before Start.
  CoreOptions& options() { return options_; }

 private:
  static constexpr uint64_t kForgetEvery = 1000;

  struct Pending {
    Request request;
    RequestDone done;
    // True if the worker was admitted while the disk was full and its NodeJoined event is not
    // committed yet.
    bool admitted = false;
  };
  using Queue = std::deque<Pending>;
  // The result of a request. Its events are a range of the tick's events.
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
  // The result of the newest Reconcile.
  Schedule schedule_;
  uint64_t last_sequence_ = 0;
  ClusterClock clock_;
  Timestamp last_tick_ms_ = 0;
  // The sequence number at which observations of jobs and nodes outside the state are
  // removed.
  uint64_t forget_at_ = kForgetEvery;
  Queue requests_;  // Requests of users and of the controller itself.
  Queue worker_requests_;
  // Submissions that wait until the log is confirmed (lost_history.h).
  Queue held_;
  absl::Status no_space_;
  // The number of undecided workers' requests that waited for free space.
  std::size_t catching_up_ = 0;
  std::vector<TickListener> listeners_;
  ArchiveCursor archive_cursor_;

  // The following fields belong to the current tick.
  std::optional<v1::ClockSet> clock_set_;
  int64_t moved_ms_ = 0;  // The shift of all times by clock_set_.
  std::vector<Pending> batch_;
  std::vector<Decision> decisions_;
  std::vector<v1::Event> events_;  // JobSubmitted events have no spec; the state has it.
  std::vector<LogRecord> records_;
  std::vector<v1::ArchivedJob> archived_;
  bool at_rest_ = true;
  // True if the schedule is complete and of this tick.
  bool is_planned_ = false;
  // TickCauses::placed.
  std::map<int64_t, std::ptrdiff_t> placed_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_
