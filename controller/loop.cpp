#include "controller/loop.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "controller/core/apply.h"
#include "controller/core/reconcile.h"
#include "controller/store/event_job.h"
#include "proto/support/asio.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// Users' requests that may wait for a tick.
constexpr int kMaxWaitingRequests = 10'000;
// Requests decided in one tick: bounds the time to the commit that all of them wait for.
constexpr std::size_t kMaxBatch = 4096;
// One call of Reconcile plans everything that is due; more calls than this mean a bug in it.
constexpr int kMaxReconcilePasses = 100;
// Gap between two ticks above which the controller itself was stalled: it ticks every 200 ms.
constexpr int64_t kStallMs = 1000;

bool IsFromUser(const Request& request) {
  return std::holds_alternative<JobSubmission>(request) ||
         std::holds_alternative<StopJob>(request) || std::holds_alternative<CordonNode>(request);
}

// True for facts and telemetry of workers. Workers keep both until they are answered, and how much
// may wait here is bounded by how much is read from workers (worker_control_service.cpp).
bool IsFromWorkerStream(const Request& request) {
  return std::holds_alternative<ReceiveFact>(request) ||
         std::holds_alternative<ReceiveTelemetry>(request);
}

absl::Status NoSpace(const absl::Status& cause) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "the controller cannot store changes now: ", cause.message(),
      "; it goes on by itself once there is free space; running jobs are not affected"));
}

// State and log may differ now; only a replay makes them equal again. No destructors: nothing of
// this state may leave the process.
[[noreturn]] void EndProcess(const absl::Status& status) {
  spdlog::critical(
      "cannot commit to the event log: {}; the controller ends and replays its log at the next "
      "start; running jobs are not affected",
      status.ToString());
  spdlog::default_logger()->flush();
  std::_Exit(EXIT_FAILURE);
}

// Reports the duration of the rest of its scope.
class WorkTimer {
 public:
  using Observe = std::function<void(LoopWork work, double seconds)>;

  WorkTimer(const Observe& observe, LoopWork work) : observe_(observe), work_(work) {}
  ~WorkTimer() {
    if (observe_) observe_(work_, std::chrono::duration<double>(Steady::now() - begin_).count());
  }

 private:
  using Steady = std::chrono::steady_clock;

  const Observe& observe_;
  const LoopWork work_;
  const Steady::time_point begin_ = Steady::now();
};

}  // namespace

struct Loop::Asio {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  boost::asio::steady_timer timer{context};
};

absl::StatusOr<std::unique_ptr<Loop>> Loop::Recover(EventLog& event_log, const Clock& clock,
                                                    LoopOptions options) {
  std::unique_ptr<Loop> loop(new Loop(event_log, clock, std::move(options)));
  TRAINYARD_RETURN_IF_ERROR(loop->Replay());
  return loop;
}

absl::Status Loop::Replay() {
  TRAINYARD_ASSIGN_OR_RETURN(EventLog::Recovery recovery, event_log_.Recover());
  last_sequence_ = recovery.last_sequence;
  snapshot_sequence_ = recovery.snapshot.has_value() ? recovery.snapshot->last_sequence() : 0;
  const std::size_t events = recovery.events.size();
  state_ = StateOf(std::move(recovery));
  spdlog::info("replayed {} events: {} jobs, {} nodes", events, state_.jobs.size(),
               state_.nodes.size());
  return absl::OkStatus();
}

Loop::Loop(EventLog& event_log, const Clock& clock, LoopOptions options)
    : event_log_(event_log),
      clock_(clock),
      options_(std::move(options)),
      asio_(std::make_unique<Asio>()),
      snapshots_(event_log) {}

Loop::~Loop() { Stop(); }

void Loop::Start() {
  last_tick_ms_ = clock_.Now();
  observations_.since_ms = last_tick_ms_;
  StartTimer();
  snapshots_.Start([this](double seconds) {
    if (observe_work_) observe_work_(LoopWork::kSnapshot, seconds);
  });
  thread_ = std::thread([this] { asio_->context.run(); });
}

void Loop::Stop() {
  if (!thread_.joinable()) return;
  Post([this] {
    asio_->timer.cancel();
    asio_->work.reset();
    asio_->context.stop();
  });
  thread_.join();
  snapshots_.Stop();
}

void Loop::Post(std::function<void()> work) { boost::asio::post(asio_->context, std::move(work)); }

void Loop::Read(std::function<void(const ClusterView& view)> work) {
  Post([this, work = std::move(work)] { work(View()); });
}

void Loop::Submit(Request request, Done done) {
  const bool refused = IsFromUser(request) && waiting_requests_.load() >= kMaxWaitingRequests;
  if (refused) {
    Read([done = std::move(done)](const ClusterView& view) {
      done(absl::ResourceExhaustedError("too many requests wait; try again shortly"), view);
    });
    return;
  }
  ++waiting_requests_;
  auto pending = std::make_shared<Pending>(Pending{std::move(request), std::move(done)});
  Post([this, pending] {
    pending_.push_back(std::move(*pending));
    ScheduleTick();
  });
}

void Loop::Listen(Listener listener) { listeners_.push_back(std::move(listener)); }

void Loop::ScheduleTick() {
  if (std::exchange(tick_scheduled_, true)) return;
  // Runs after all work posted so far: requests that came during a commit share the next one.
  Post([this] { Tick(); });
}

ClusterView Loop::View() const {
  return {state_, observations_, options_.core, clock_.Now(), last_sequence_};
}

void Loop::StartTimer() {
  asio_->timer.expires_after(options_.tick_interval);
  asio_->timer.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    Tick();
    StartTimer();
  });
}

void Loop::Tick() {
  const WorkTimer timer(observe_work_, LoopWork::kTick);
  tick_scheduled_ = false;
  const Timestamp now = clock_.Now();
  ExcuseOwnStall(now);
  if (before_tick_) before_tick_(now);
  if (!HasSpace()) return AnswerWithoutSpace(now);
  std::vector<Pending> batch = TakeBatch();
  std::vector<v1::Event> events;
  const std::vector<Decision> decisions = DecideAll(batch, now, events);
  catching_up_ = catching_up_ && !pending_.empty();
  if (!catching_up_) ReconcileAll(now, events);
  if (!Commit(events)) {
    pending_.insert(pending_.begin(), std::make_move_iterator(batch.begin()),
                    std::make_move_iterator(batch.end()));
    return AnswerWithoutSpace(now);
  }

  ConfirmSpace();
  waiting_requests_ -= static_cast<int>(batch.size());
  Answer(batch, decisions, events);
  NotifyListeners(events);
  RequestSnapshotIfDue();
}

std::vector<Loop::Pending> Loop::TakeBatch() {
  std::vector<Pending> batch;
  const auto end =
      pending_.begin() + static_cast<std::ptrdiff_t>(std::min(pending_.size(), kMaxBatch));
  std::move(pending_.begin(), end, std::back_inserter(batch));
  pending_.erase(pending_.begin(), end);
  if (!pending_.empty()) ScheduleTick();
  return batch;
}

std::vector<Loop::Decision> Loop::DecideAll(const std::vector<Pending>& batch, Timestamp now,
                                            std::vector<v1::Event>& events) {
  std::vector<Decision> decisions;
  decisions.reserve(batch.size());
  events.reserve(batch.size());
  for (const Pending& pending : batch) {
    auto caused = Decide(state_, pending.request, options_.core, now);
    Decision& decision = decisions.emplace_back(Decision{caused.status(), events.size()});
    if (!caused.ok()) continue;
    decision.events = caused->size();
    for (v1::Event& event : *caused) {
      Apply(event, state_);
      events.push_back(std::move(event));
    }
  }
  return decisions;
}

void Loop::Answer(const std::vector<Pending>& batch, const std::vector<Decision>& decisions,
                  const std::vector<v1::Event>& events) {
  const ClusterView view = View();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Decision& decision = decisions[i];
    if (decision.status.ok()) {
      batch[i].done(std::span(events).subspan(decision.first_event, decision.events), view);
    } else {
      batch[i].done(decision.status, view);
    }
  }
}

void Loop::ReconcileAll(Timestamp now, std::vector<v1::Event>& events) {
  for (int i = 0; i < kMaxReconcilePasses; ++i) {
    std::vector<v1::Event> planned = Reconcile(state_, observations_, options_.core, now);
    if (planned.empty()) return;
    for (const v1::Event& event : planned) Apply(event, state_);
    std::move(planned.begin(), planned.end(), std::back_inserter(events));
  }
  spdlog::error("planning did not come to rest in {} rounds; going on with the next tick",
                kMaxReconcilePasses);
}

// False when the disk is full: then the tick is undone, as if it had never run.
bool Loop::Commit(const std::vector<v1::Event>& events) {
  if (events.empty()) return true;
  const WorkTimer timer(observe_work_, LoopWork::kCommit);
  const absl::Status status = event_log_.Append(events);
  if (absl::IsResourceExhausted(status)) {
    UndoTick(status);
    return false;
  }
  if (!status.ok()) EndProcess(status);
  last_sequence_ += events.size();
  return true;
}

void Loop::UndoTick(const absl::Status& cause) {
  const uint64_t committed = last_sequence_;
  if (const absl::Status status = Replay(); !status.ok()) EndProcess(status);
  if (last_sequence_ != committed) {
    EndProcess(absl::DataLossError("a commit that failed has changed the log all the same"));
  }
  no_space_ = NoSpace(cause);
  retry_space_at_ = Steady::now() + space_backoff_.Next();
  ReportHealth(cause);
}

bool Loop::HasSpace() {
  if (no_space_.ok()) return true;
  if (Steady::now() < retry_space_at_) return false;
  const absl::Status status = event_log_.TryWrite();
  if (!status.ok() && !absl::IsResourceExhausted(status)) EndProcess(status);
  if (!status.ok()) {
    no_space_ = NoSpace(status);
    retry_space_at_ = Steady::now() + space_backoff_.Next();
    ReportHealth(status);
    return false;
  }
  no_space_ = absl::OkStatus();
  space_unconfirmed_ = true;
  catching_up_ = true;
  // Messages that workers sent in the meantime may not all have been read yet.
  observations_.since_ms = clock_.Now();
  return true;
}

// Called after a commit: free space for one page (TryWrite) need not hold all waiting requests.
void Loop::ConfirmSpace() {
  if (!std::exchange(space_unconfirmed_, false)) return;
  space_backoff_.Reset();
  ReportHealth(absl::OkStatus());
}

// Requests that change nothing are answered as usual.
void Loop::AnswerWithoutSpace(Timestamp now) {
  std::vector<Pending> waiting;
  waiting.swap(pending_);
  for (Pending& pending : waiting) {
    if (IsFromWorkerStream(pending.request)) {
      pending_.push_back(std::move(pending));
      continue;
    }
    const auto caused = Decide(state_, pending.request, options_.core, now);
    --waiting_requests_;
    if (!caused.ok()) {
      pending.done(caused.status(), View());
    } else if (!caused->empty()) {
      pending.done(no_space_, View());
    } else {
      pending.done(std::span<const v1::Event>(), View());
    }
  }
  // Commands follow from committed state: they are sent as usual.
  NotifyListeners({});
}

void Loop::ReportHealth(const absl::Status& status) {
  if (health_ != nullptr) health_->Report(StoreName::kEvents, status);
}

void Loop::NotifyListeners(const std::vector<v1::Event>& events) {
  TickSummary summary{.changed_jobs = {}, .events = events};
  for (const v1::Event& event : events) {
    if (const int64_t job_id = JobIdOf(event); job_id != 0) summary.changed_jobs.insert(job_id);
  }
  // A listener may add another one.
  std::vector<Listener> kept;
  kept.swap(listeners_);
  std::erase_if(kept, [&](const Listener& listener) { return !listener(View(), summary); });
  kept.insert(kept.end(), std::make_move_iterator(listeners_.begin()),
              std::make_move_iterator(listeners_.end()));
  listeners_ = std::move(kept);
}

void Loop::RequestSnapshotIfDue() {
  // The cost of a snapshot grows with the number of jobs and nodes. With as many events between two
  // snapshots, the cost for each event stays constant however large the state is.
  const uint64_t entries = state_.jobs.size() + state_.nodes.size();
  const uint64_t events_between = std::max(options_.events_per_snapshot, entries);
  if (last_sequence_ - snapshot_sequence_ < events_between) return;
  // Also after a snapshot that fails, the next one is due as many events later.
  if (snapshots_.Request(last_sequence_)) snapshot_sequence_ = last_sequence_;
}

void Loop::ExcuseOwnStall(Timestamp now) {
  // While the controller was stalled (a slow disk, a paused machine) or its clock was set, no
  // heartbeat could be received: that time does not count as time without a heartbeat.
  const int64_t gap = now - std::exchange(last_tick_ms_, now);
  if (gap >= 0 && gap <= kStallMs) return;
  spdlog::warn("the controller was stalled, or its clock was set, for {} ms", gap);
  ShiftHeartbeats(gap, now, observations_);
}

}  // namespace trainyard::controller
