// The rules of one tick: requests that came in are decided, due events are planned, and only once
// all events are committed are the callers answered and the listeners notified.
//
// No thread, clock or disk. A tick: BeginTick, ExcuseOwnStall, Decide, then exactly one of
// Committed and Undone. While the disk is full, AnswerWithoutSpace takes the place of Decide.
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
#include "controller/api/cluster_loop.h"
#include "controller/core/archive.h"
#include "controller/core/decide/decide.h"
#include "controller/core/observations/cluster_clock.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/log_record.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class TickKernel {
 public:
  using Done = ClusterLoop::Done;
  using Listener = ClusterLoop::Listener;

  explicit TickKernel(CoreOptions options) : options_(std::move(options)) {}

  // Sets the state that the event log gives up to the event `last_sequence`.
  void Restore(ClusterState state, uint64_t last_sequence);
  // Sets the clocks by which the state's time goes on. After Restore.
  void StartClock(const std::string& boot_id, const ClockReading& reading);
  // The controller's time (cluster_clock.h).
  Timestamp TimeAt(const ClockReading& reading) const { return clock_.TimeAt(reading); }
  // The controller receives messages from now on.
  void Start(Timestamp now);

  // Workers' requests wait in their own queue, so that a flood of them delays no user.
  void Submit(Request request, Done done);
  // Requests that wait for a tick.
  std::size_t waiting() const { return requests_.size() + worker_requests_.size(); }
  void Listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  // Begins a tick and returns its time. If the wall clock was set, the tick's first event records
  // the step, and all times move by it.
  Timestamp BeginTick(const ClockReading& reading);

  // Time since the last tick that is more than ticks explain: the controller was stalled (a slow
  // disk, a paused machine), so that no heartbeat could be received. It does not count as time
  // without a heartbeat. In milliseconds; 0 for none.
  int64_t ExcuseOwnStall(Timestamp now);

  // Decides on the oldest requests, users' before workers', plans, and returns the events to
  // commit. Both kinds have a limit per tick, so that neither starves the other.
  const std::vector<LogRecord>& Decide(Timestamp now);
  // The event of the tick by which the time has moved, or that began with another boot.
  const std::optional<v1::ClockSet>& clock_set() const { return clock_set_; }
  // Jobs of these events that leave the state: to be added to the archive with the events.
  const std::vector<v1::ArchivedJob>& archived() const { return archived_; }
  // Users' requests that the last Decide took.
  std::size_t decided_of_users() const;
  // False when planning did not come to rest in the last Decide; it goes on in the next tick.
  bool at_rest() const { return at_rest_; }

  // The events are durable: answers their requests and notifies the listeners.
  void Committed(Timestamp now);
  // The events could not be stored, and none of them is in the log. `replayed` is the state of the
  // log; the requests wait again, and the time is that of before a step of the clock.
  void Undone(ClusterState replayed, const absl::Status& cause);

  // OK, or the reason why nothing can be committed now.
  const absl::Status& no_space() const { return no_space_; }
  void SetNoSpace(const absl::Status& cause);
  // The disk seems to have free space again. Nothing is planned until the workers' requests that
  // have waited for it are decided.
  void SpaceIsBack(Timestamp now);
  // Requests that change nothing are answered as usual and changes by users are refused; facts and
  // telemetry of workers wait. A restarted worker is admitted, and its NodeJoined waits. Returns
  // the number of users' requests answered.
  std::size_t AnswerWithoutSpace(Timestamp now);

  ClusterView View(Timestamp now) const {
    return {state_, observations_, options_, now, last_sequence_};
  }
  const ClusterState& state() const { return state_; }
  uint64_t last_sequence() const { return last_sequence_; }
  Observations& observations() { return observations_; }
  // To be changed before Start only.
  CoreOptions& options() { return options_; }

 private:
  static constexpr uint64_t kForgetEvery = 1000;

  struct Pending {
    Request request;
    Done done;
    // The worker was admitted while the disk was full; its event waits.
    bool admitted = false;
  };
  using Queue = std::deque<Pending>;
  // Result of a request, with the range of its events among those of the tick.
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
  uint64_t last_sequence_ = 0;
  ClusterClock clock_;
  Timestamp last_tick_ms_ = 0;
  // Event at which observations of jobs and nodes that have left the state are forgotten.
  uint64_t forget_at_ = kForgetEvery;
  Queue requests_;  // Requests of users and of the controller itself.
  Queue worker_requests_;
  // Submissions that wait until the log is confirmed (lost_history.h).
  Queue held_;
  absl::Status no_space_;
  // Workers' requests that waited for free space and are not decided yet.
  std::size_t catching_up_ = 0;
  std::vector<Listener> listeners_;
  ArchiveCursor archive_cursor_;

  // Of the tick that is under way.
  std::optional<v1::ClockSet> clock_set_;
  int64_t moved_ms_ = 0;  // By which clock_set_ has moved the time.
  std::vector<Pending> batch_;
  std::vector<Decision> decisions_;
  std::vector<v1::Event> events_;  // JobSubmitted without its spec, which the state has.
  std::vector<LogRecord> records_;
  std::vector<v1::ArchivedJob> archived_;
  bool at_rest_ = true;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_TICK_KERNEL_H_
