#include "controller/loop/loop.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/kernel/commit_rule.h"
#include "controller/loop/leader_guard.h"
#include "proto/support/asio.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// The maximum number of user requests that wait for a tick.
constexpr int kMaxWaitingRequests = 10'000;

// The maximum time per pass for requests (kRequestSlice) and for worker messages (kMessageSlice). A
// pass handles at least one of each, regardless of the limits.
constexpr std::chrono::milliseconds kRequestSlice{50};
constexpr std::chrono::milliseconds kMessageSlice{10};

// Ends the process without running destructors. The state may differ from the log, so nothing that
// depends on it may leave the process. The next start replays the log.
[[noreturn]] void EndProcess(const absl::Status& status) {
  if (absl::IsAborted(status)) ExitWithoutLeadership(status);
  spdlog::critical(
      "cannot commit to the event log: {}; the controller exits and replays its log at the next "
      "start; running jobs are not affected",
      status.ToString());
  spdlog::default_logger()->flush();
  std::_Exit(EXIT_FAILURE);
}

void LogClockSet(const v1::ClockSet& set) {
  // The doubt names another cause of the step.
  if (set.step_ms() != 0 && set.doubt().empty()) {
    spdlog::warn(
        "the wall clock was changed by {} ms; all times are shifted by the same amount, and "
        "durations do not change",
        set.step_ms());
  }
  if (!set.doubt().empty()) spdlog::warn("implausible time: {}", set.doubt());
}

// Reports the duration of its own lifetime.
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
                                                    LoopOptions options, ReplayedState* replayed) {
  std::unique_ptr<Loop> loop(new Loop(event_log, clock, std::move(options)));
  absl::StatusOr<ClusterState> state = absl::NotFoundError("nothing is replayed yet");
  std::optional<int64_t> newest_ms;
  if (replayed != nullptr) {
    state = loop->Continue(*replayed);
    if (state.ok()) {
      newest_ms = replayed->newest_ms;
    } else {
      spdlog::warn("the state of this standby cannot be used: {}; replaying the log",
                   std::string(state.status().message()));
    }
  }
  if (!state.ok()) state = loop->Replay();
  if (!state.ok()) return state.status();
  loop->tick_.Restore(*std::move(state), loop->replayed_sequence_);
  const ClockReading now = clock.Read();
  std::optional<int64_t> since_newest_ms;
  if (newest_ms.has_value()) since_newest_ms = now.steady_ms - *newest_ms;
  loop->tick_.StartClock(clock.BootId(), now, since_newest_ms);
  return loop;
}

absl::StatusOr<ClusterState> Loop::Replay() {
  TRAINYARD_ASSIGN_OR_RETURN(EventLog::Recovery recovery, event_log_.Recover());
  replayed_sequence_ = recovery.last_sequence;
  snapshot_sequence_ = recovery.snapshot.has_value() ? recovery.snapshot->last_sequence() : 0;
  const std::size_t events = recovery.events.size();
  ClusterState state = StateOf(std::move(recovery));
  spdlog::info("replayed {} events: {} jobs, {} nodes", events, state.jobs.size(),
               state.nodes.size());
  return state;
}

absl::StatusOr<ClusterState> Loop::Continue(ReplayedState& replayed) {
  const uint64_t before = replayed.last_sequence;
  TRAINYARD_RETURN_IF_ERROR(CatchUp(event_log_, replayed));
  replayed_sequence_ = replayed.last_sequence;
  snapshot_sequence_ = replayed.snapshot_sequence;
  spdlog::info("continued after event {} with {} events: {} jobs, {} nodes", before,
               replayed_sequence_ - before, replayed.state.jobs.size(),
               replayed.state.nodes.size());
  return std::move(replayed.state);
}

Loop::Loop(EventLog& event_log, const Clock& clock, LoopOptions options)
    : event_log_(event_log),
      clock_(clock),
      options_(std::move(options)),
      asio_(std::make_unique<Asio>()),
      snapshots_(event_log),
      tick_(options_.core) {}

Loop::~Loop() { Stop(); }

void Loop::Start() {
  tick_.Start(Now());
  StartTimer();
  snapshots_.Start([this](double seconds) {
    if (observe_work_) observe_work_(LoopWork::kSnapshot, seconds);
  });
  thread_ = std::thread([this] { asio_->context.run(); });
}

void Loop::Stop() {
  if (!thread_.joinable()) return;
  boost::asio::post(asio_->context, [this] {
    RunWaiting();
    asio_->timer.cancel();
    asio_->work.reset();
    asio_->context.stop();
  });
  thread_.join();
  snapshots_.Stop();
}

void Loop::Post(std::function<void()> work) {
  if (queue_.AddRequest(std::move(work))) StartPass();
}

void Loop::PostFromWorker(const void* worker, std::function<void()> work) {
  if (queue_.AddMessage(worker, std::move(work))) StartPass();
}

void Loop::StartPass() {
  boost::asio::post(asio_->context, [this] { RunPass(); });
}

void Loop::RunPass() {
  RunRequests();
  RunMessages();
  if (tick_scheduled_) Tick();
  // Start a new pass instead of continuing in a loop, so that timers can run between two passes.
  if (queue_.EndPass(tick_scheduled_)) StartPass();
}

void Loop::RunRequests() {
  const Steady::time_point end = Steady::now() + kRequestSlice;
  while (const auto work = queue_.NextRequest()) {
    (*work)();
    if (Steady::now() >= end) return;
  }
}

void Loop::RunMessages() {
  const Steady::time_point end = Steady::now() + kMessageSlice;
  while (const auto work = queue_.NextMessage()) {
    (*work)();
    if (Steady::now() >= end) return;
  }
}

// Runs the queued work, but not work added meanwhile.
void Loop::RunWaiting() {
  for (std::size_t left = queue_.size(); left > 0; --left) {
    auto work = queue_.NextRequest();
    if (!work.has_value()) work = queue_.NextMessage();
    if (!work.has_value()) return;
    (*work)();
  }
}

void Loop::Read(std::function<void(const ClusterView& view)> work) {
  Post([this, work = std::move(work)] { work(View()); });
}

void Loop::Submit(Request request, RequestDone done) {
  const bool of_user = SourceOf(request) == RequestSource::kUser;
  if (of_user && waiting_requests_.load() >= kMaxWaitingRequests) {
    Read([done = std::move(done)](const ClusterView& view) {
      done(absl::ResourceExhaustedError("too many requests are waiting; try again shortly"), view);
    });
    return;
  }
  if (of_user) ++waiting_requests_;
  auto pending =
      std::make_shared<std::pair<Request, RequestDone>>(std::move(request), std::move(done));
  Post([this, pending] { SubmitAtOnce(std::move(pending->first), std::move(pending->second)); });
}

void Loop::SubmitAtOnce(Request request, RequestDone done) {
  tick_.Submit(std::move(request), std::move(done));
  ScheduleTick();
}

void Loop::Listen(TickListener listener) { tick_.Listen(std::move(listener)); }

void Loop::ScheduleTick() {
  // The tick runs at the end of the pass, so that all requests that arrive during a commit are
  // decided and committed together.
  if (std::exchange(tick_scheduled_, true)) return;
  if (queue_.AddPass()) StartPass();
}

ClusterView Loop::View() const { return tick_.View(Now()); }

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
  const Timestamp now = tick_.BeginTick(clock_.Read());
  if (const int64_t gap = tick_.ExcuseOwnStall(now); gap != 0) {
    spdlog::warn("the controller was stalled for {} ms", gap);
  }
  if (before_tick_) before_tick_(now);
  if (!HasSpace()) return AnswerWithoutSpace();
  const std::vector<LogRecord>& events = tick_.Decide(now);
  if (!tick_.at_rest()) {
    spdlog::error("planning did not converge; continuing at the next tick");
  }
  if (!Commit(events, tick_.archived())) return AnswerWithoutSpace();
  ConfirmSpace();
  waiting_requests_ -= static_cast<int>(tick_.decided_of_users());
  if (tick_.waiting() > 0) ScheduleTick();
  if (tick_.clock_set().has_value()) LogClockSet(*tick_.clock_set());
  tick_.Committed(Now());
  RequestSnapshotIfDue();
}

// Commits the events. If the disk is full, undoes the tick as if it had never run, and returns
// false.
bool Loop::Commit(const std::vector<LogRecord>& events,
                  const std::vector<v1::ArchivedJob>& archived) {
  if (events.empty()) return true;
  const WorkTimer timer(observe_work_, LoopWork::kCommit);
  const absl::Status status = event_log_.Append(events, archived);
  switch (OutcomeOf(status)) {
    case CommitOutcome::kDurable:
      return true;
    case CommitOutcome::kUndone:
      UndoTick(status);
      return false;
    case CommitOutcome::kLeadershipLost:
      ExitWithoutLeadership(status);
    case CommitOutcome::kUnknown:
      EndProcess(status);
  }
  return false;
}

void Loop::UndoTick(const absl::Status& cause) {
  absl::StatusOr<ClusterState> replayed = Replay();
  if (!replayed.ok()) EndProcess(replayed.status());
  if (replayed_sequence_ != tick_.last_sequence()) {
    EndProcess(absl::DataLossError("a failed commit changed the log"));
  }
  tick_.Undone(*std::move(replayed), cause);
  RetrySpaceLater(cause);
}

bool Loop::HasSpace() {
  if (tick_.no_space().ok()) return true;
  if (Steady::now() < retry_space_at_) return false;
  const absl::Status status = event_log_.TryWrite();
  if (!status.ok() && !absl::IsResourceExhausted(status)) EndProcess(status);
  if (!status.ok()) {
    tick_.SetNoSpace(status);
    RetrySpaceLater(status);
    return false;
  }
  space_unconfirmed_ = true;
  tick_.SpaceIsBack(Now());
  return true;
}

void Loop::RetrySpaceLater(const absl::Status& cause) {
  retry_space_at_ = Steady::now() + space_backoff_.Next();
  ReportHealth(cause);
}

// Called after a commit. Only a commit proves that there is space for waiting requests; a
// successful TryWrite proves only that one page can be written.
void Loop::ConfirmSpace() {
  if (!std::exchange(space_unconfirmed_, false)) return;
  space_backoff_.Reset();
  ReportHealth(absl::OkStatus());
}

void Loop::AnswerWithoutSpace() {
  waiting_requests_ -= static_cast<int>(tick_.AnswerWithoutSpace(Now()));
}

void Loop::ReportHealth(const absl::Status& status) {
  if (health_ != nullptr) health_->Report(StoreName::kEvents, status);
}

void Loop::RequestSnapshotIfDue() {
  // A snapshot costs more if there are more jobs and nodes. The number of events between two
  // snapshots grows in the same way, so the cost per event stays constant.
  const uint64_t entries = tick_.state().jobs.size() + tick_.state().nodes.size();
  const uint64_t events_between = std::max(options_.events_per_snapshot, entries);
  if (tick_.last_sequence() - snapshot_sequence_ < events_between) return;
  // A failed snapshot is not retried early: the next one is due after the usual number of events.
  if (snapshots_.Request(tick_.last_sequence())) snapshot_sequence_ = tick_.last_sequence();
}

}  // namespace trainyard::controller
