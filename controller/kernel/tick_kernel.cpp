#include "controller/kernel/tick_kernel.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/node_identity.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/observations/observe.h"
#include "controller/core/reconcile.h"
#include "controller/core/schedule/promise_history.h"
#include "controller/core/support/controller_event.h"
#include "controller/kernel/own_stall.h"
#include "proto/contract/leader_term.h"

namespace trainyard::controller {
namespace {

// The maximum number of user requests, and of worker requests, decided in one tick. This limits how
// long these requests wait for the tick's commit.
constexpr std::size_t kMaxRequests = 4096;
constexpr std::size_t kMaxWorkerRequests = 1024;
// One call of Reconcile should plan everything that is due in a given state. The planned events may
// require a few more calls, but this many calls mean a bug.
constexpr int kMaxReconcilePasses = 100;

// Returns true if the only event changes the incarnation, version, address or inventory of a known
// node. The decisions that are made while the disk is full do not depend on these fields.
bool OnlyRenewsNode(const ClusterState& state, const std::vector<v1::Event>& events) {
  if (events.size() != 1 || !events.front().has_node_joined()) return false;
  const v1::NodeJoined& joined = events.front().node_joined();
  const auto known = state.nodes.find(joined.node().id());
  return known != state.nodes.end() && !AddsIdentity(known->second.binding, joined) &&
         known->second.place == joined.place();
}

}  // namespace

void TickKernel::Restore(ClusterState state, uint64_t last_sequence) {
  state_ = std::move(state);
  last_sequence_ = last_sequence;
}

void TickKernel::StartClock(const std::string& boot_id, const ClockReading& reading,
                            std::optional<int64_t> since_newest_ms) {
  clock_ = ClusterClock(state_.clock, boot_id, reading, since_newest_ms);
}

void TickKernel::Start(Timestamp now) {
  last_tick_ms_ = now;
  observations_.since_ms = now;
}

void TickKernel::Submit(Request request, RequestDone done) {
  Queue& queue = SourceOf(request) == RequestSource::kWorker ? worker_requests_ : requests_;
  queue.push_back({std::move(request), std::move(done)});
}

Timestamp TickKernel::BeginTick(const ClockReading& reading) {
  clock_set_ = no_space_.ok() ? clock_.Due(reading) : std::nullopt;
  moved_ms_ = clock_set_.has_value() ? clock_.Take(*clock_set_) : 0;
  if (moved_ms_ != 0) ShiftTimes(moved_ms_);
  return clock_.TimeAt(reading);
}

// Shifts the times that are not in the state.
void TickKernel::ShiftTimes(int64_t step_ms) {
  last_tick_ms_ += step_ms;
  archive_cursor_ = {};
  controller::ShiftTimes(step_ms, observations_);
  ShiftPromises(step_ms, schedule_.promises);
  for (Pending& pending : worker_requests_) {
    auto* fact = std::get_if<ReceiveFact>(&pending.request);
    if (fact == nullptr) continue;
    if (fact->clock_ahead_ms.has_value()) *fact->clock_ahead_ms -= step_ms;
    if (fact->ran_ms != 0) fact->ran_ms += step_ms;
  }
}

int64_t TickKernel::ExcuseOwnStall(Timestamp now) {
  const int64_t gap = now - std::exchange(last_tick_ms_, now);
  if (!IsOwnStall(gap)) return 0;
  ShiftHeartbeats(gap, now, observations_);
  return gap;
}

const std::vector<LogRecord>& TickKernel::Decide(Timestamp now) {
  TakeBatch(now);
  DecideBatch(now);
  if (catching_up_ == 0) {
    Plan(now);
    Archive(now);
  }
  return records_;
}

// Delays submissions until the log is confirmed to be complete. Otherwise, a new job could get the
// id of a job that the log has lost.
void TickKernel::HoldSubmissions(Timestamp now) {
  if (IsLogConfirmed(state_, observations_, options_, now)) {
    requests_.insert(requests_.begin(), std::make_move_iterator(held_.begin()),
                     std::make_move_iterator(held_.end()));
    held_.clear();
    return;
  }
  const auto held = std::stable_partition(
      requests_.begin(), requests_.end(),
      [](const Pending& one) { return !std::holds_alternative<JobSubmission>(one.request); });
  std::move(held, requests_.end(), std::back_inserter(held_));
  requests_.erase(held, requests_.end());
}

void TickKernel::TakeBatch(Timestamp now) {
  HoldSubmissions(now);
  batch_.clear();
  TakeFrom(requests_, kMaxRequests);
  const std::size_t others = batch_.size();
  TakeFrom(worker_requests_, kMaxWorkerRequests);
  catching_up_ -= std::min(catching_up_, batch_.size() - others);
}

void TickKernel::TakeFrom(Queue& queue, std::size_t limit) {
  const auto end = queue.begin() + static_cast<std::ptrdiff_t>(std::min(queue.size(), limit));
  std::move(queue.begin(), end, std::back_inserter(batch_));
  queue.erase(queue.begin(), end);
}

std::size_t TickKernel::decided_of_users() const {
  return static_cast<std::size_t>(std::ranges::count_if(batch_, [](const Pending& pending) {
    return SourceOf(pending.request) == RequestSource::kUser;
  }));
}

void TickKernel::DecideBatch(Timestamp now) {
  decisions_.clear();
  events_.clear();
  records_.clear();
  archived_.clear();
  decisions_.reserve(batch_.size());
  events_.reserve(batch_.size());
  records_.reserve(batch_.size());
  is_planned_ = false;
  if (clock_set_.has_value()) TakeClockSet(now);
  for (const Pending& pending : batch_) {
    auto caused = controller::Decide(state_, pending.request, options_, now);
    Decision& decision = decisions_.emplace_back(Decision{caused.status(), events_.size()});
    if (!caused.ok()) continue;
    decision.events = caused->size();
    for (v1::Event& event : *caused) {
      Take(std::move(event));
    }
  }
}

void TickKernel::TakeClockSet(Timestamp now) {
  v1::Event event = ControllerEvent(now);
  *event.mutable_clock_set() = *clock_set_;
  Take(std::move(event));
}

void TickKernel::Take(v1::Event event) {
  SetLeaderTerm(options_.leader_term, event);
  records_.push_back(ToLogRecord(event));
  ApplyTakingSpec(event, state_);
  events_.push_back(std::move(event));
}

void TickKernel::Plan(Timestamp now) {
  at_rest_ = true;
  Promises promises = std::move(schedule_.promises);
  placed_.clear();
  for (int i = 0; i < kMaxReconcilePasses; ++i) {
    controller::Plan planned = Reconcile(state_, observations_, options_, now);
    schedule_ = std::move(planned.schedule);
    if (planned.events.empty()) {
      schedule_.promises = std::move(promises);
      is_planned_ = true;
      return;
    }
    for (const Placement& placement : schedule_.placements) {
      placed_[placement.job_id] = placement.heads_before;
    }
    for (v1::Event& event : planned.events) Take(std::move(event));
  }
  schedule_.promises = std::move(promises);
  at_rest_ = false;
}

void TickKernel::Archive(Timestamp now) {
  for (v1::Event& event : ArchiveDue(state_, observations_, options_, now, archive_cursor_)) {
    const int64_t job_id = event.job_archived().job_id();
    archived_.push_back(ToArchived(state_.jobs.at(job_id), observations_, now));
    Take(std::move(event));
  }
}

void TickKernel::Committed(Timestamp now) {
  last_sequence_ += events_.size();
  if (clock_set_.has_value()) clock_.Committed();
  for (const v1::ArchivedJob& job : archived_) observations_.progress.erase(job.job().id());
  if (last_sequence_ >= forget_at_) {
    ForgetOld(state_, observations_);
    forget_at_ = last_sequence_ + kForgetEvery;
  }
  if (is_planned_) {
    ContinuePromises(state_, {events_, placed_}, now, std::move(schedule_.promises), schedule_);
  }
  AnswerBatch(now);
  NotifyListeners(now);
}

void TickKernel::AnswerBatch(Timestamp now) {
  const ClusterView view = View(now);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const Decision& decision = decisions_[i];
    if (decision.status.ok()) {
      batch_[i].done(std::span(events_).subspan(decision.first_event, decision.events), view);
    } else {
      batch_[i].done(decision.status, view);
    }
  }
  batch_.clear();
}

void TickKernel::Undone(ClusterState replayed, const absl::Status& cause) {
  state_ = std::move(replayed);
  // Put the requests back at the front of their queues in the original order.
  for (auto pending = batch_.rbegin(); pending != batch_.rend(); ++pending) {
    const bool of_worker = SourceOf(pending->request) == RequestSource::kWorker;
    (of_worker ? worker_requests_ : requests_).push_front(std::move(*pending));
  }
  batch_.clear();
  events_.clear();
  records_.clear();
  archived_.clear();
  archive_cursor_ = {};
  if (clock_set_.has_value()) clock_.Undo(moved_ms_);
  if (moved_ms_ != 0) ShiftTimes(-moved_ms_);
  clock_set_.reset();
  moved_ms_ = 0;
  SetNoSpace(cause);
}

void TickKernel::SetNoSpace(const absl::Status& cause) {
  no_space_ = absl::ResourceExhaustedError(absl::StrCat(
      "the controller cannot store changes now: ", cause.message(),
      "; storing resumes automatically once there is free space; running jobs are not affected"));
}

void TickKernel::SpaceIsBack(Timestamp now) {
  no_space_ = absl::OkStatus();
  catching_up_ = worker_requests_.size();
  // Restart the observation period, because messages that workers sent while the disk was full may
  // still be unread.
  observations_.since_ms = now;
}

std::size_t TickKernel::AnswerWithoutSpace(Timestamp now) {
  // Empty the queue first, because answers may submit new requests.
  Queue requests;
  requests.swap(requests_);
  std::move(held_.begin(), held_.end(), std::back_inserter(requests));
  held_.clear();
  std::size_t of_users = 0;
  for (Pending& pending : requests) {
    of_users += static_cast<std::size_t>(SourceOf(pending.request) == RequestSource::kUser);
    AnswerWithoutSpace(std::move(pending), now);
  }
  AnswerWorkersWithoutSpace(now);
  // Notify the listeners without new events. Commands depend only on committed state, so they are
  // sent even while the disk is full.
  events_.clear();
  NotifyListeners(now);
  return of_users;
}

void TickKernel::AnswerWithoutSpace(Pending pending, Timestamp now) {
  const auto caused = controller::Decide(state_, pending.request, options_, now);
  if (!caused.ok()) {
    pending.done(caused.status(), View(now));
  } else if (!caused->empty()) {
    pending.done(no_space_, View(now));
  } else {
    pending.done(std::span<const v1::Event>(), View(now));
  }
}

// Answers workers that attach. Facts and telemetry keep waiting in order.
void TickKernel::AnswerWorkersWithoutSpace(Timestamp now) {
  Queue attaching;
  std::erase_if(worker_requests_, [&](Pending& pending) {
    const bool attaches = std::holds_alternative<AttachWorker>(pending.request);
    if (!attaches || pending.admitted) return false;
    attaching.push_back(std::move(pending));
    return true;
  });
  for (Pending& pending : attaching) DeferAttach(std::move(pending), now);
}

// Admits a restarted worker based on the committed state of its node, because its heartbeats,
// commands and telemetry need no event. The worker's NodeJoined event waits for free space.
void TickKernel::DeferAttach(Pending pending, Timestamp now) {
  const auto caused = controller::Decide(state_, pending.request, options_, now);
  if (!caused.ok() || !OnlyRenewsNode(state_, *caused)) {
    return AnswerWithoutSpace(std::move(pending), now);
  }
  const RequestDone done = std::exchange(pending.done, [](const auto&, const auto&) {});
  pending.admitted = true;
  // Drop an older waiting request of this node, because only the newest incarnation matters.
  const std::string node_id = std::get<AttachWorker>(pending.request).hello.node_id();
  std::erase_if(worker_requests_, [&](const Pending& other) {
    return other.admitted && std::get<AttachWorker>(other.request).hello.node_id() == node_id;
  });
  worker_requests_.push_back(std::move(pending));
  done(std::span<const v1::Event>(), View(now));
}

void TickKernel::NotifyListeners(Timestamp now) {
  TickSummary summary{.changed_jobs = {},
                      .events = events_,
                      .log_confirmed = IsLogConfirmed(state_, observations_, options_, now)};
  for (const v1::Event& event : events_) {
    if (const int64_t job_id = JobIdOf(event); job_id != 0) summary.changed_jobs.insert(job_id);
  }
  // Iterate over a separate list, because a listener may add another listener.
  std::vector<TickListener> kept;
  kept.swap(listeners_);
  std::erase_if(kept, [&](const TickListener& listener) { return !listener(View(now), summary); });
  kept.insert(kept.end(), std::make_move_iterator(listeners_.begin()),
              std::make_move_iterator(listeners_.end()));
  listeners_ = std::move(kept);
}

}  // namespace trainyard::controller
