// The loop of a leader, with the steps of controller/loop/loop.cpp.
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/kernel/commit_rule.h"
#include "tests/simulation/store/member.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kTickMs = 200;
// The time until the mark of a confirmed log is in the database.
constexpr int64_t kNoteMs = 20;
constexpr int64_t kSpaceRetryMs = 250;
constexpr int64_t kConfirmLogMs = 2'000;
constexpr uint64_t kEventsPerSnapshot = 20;
constexpr Connection::Limits kWriterLimits{.lock_ms = 5'000, .answer_ms = 12'000};

controller::ClusterState Replay(controller::EventLog::Recovery recovery) {
  controller::ClusterState state;
  if (recovery.snapshot.has_value()) {
    state = controller::FromSnapshot(*std::move(recovery.snapshot));
  }
  for (const v1::Event& event : recovery.events) controller::Apply(event, state);
  return state;
}

}  // namespace

void Member::CallLog(LogStatement statement, Connection::Done done) {
  // The server may carry out the statement after this process has ended.
  Call(
      leading_->writer, kWriterLimits,
      [log = leading_->log, statement = std::move(statement)](
          int64_t session) -> std::optional<absl::Status> { return statement(*log, session); },
      std::move(done));
}

// Opens the event log as the first transaction of the term, and reads it.
void Member::OpenStores() {
  const auto opened = std::make_shared<Opened>();
  if (tail_ != nullptr && !tail_->has_ended() && replayed_.last_sequence > 0) {
    opened->continued = std::move(replayed_);
  }
  StopFollowing();
  opened->writer = Connection::Open(number_, world_);
  if (opened->writer == nullptr) return End();
  const auto open = [opened, &database = world_.database,
                     term = kernel_->term()](int64_t session) -> std::optional<absl::Status> {
    auto log = SimulatedEventLog::Open(database, session, term);
    if (!log.ok()) return log.status();
    opened->log = *std::move(log);
    if (opened->continued.has_value()) {
      if (CatchUp(*opened->log, *opened->continued).ok()) return absl::OkStatus();
      opened->continued.reset();
    }
    auto recovery = opened->log->Recover();
    if (recovery.ok()) opened->recovery = *std::move(recovery);
    return recovery.status();
  };
  Call(opened->writer, kWriterLimits, open, [this, opened](const absl::Status& status) {
    if (status.ok()) return Lead(std::move(*opened));
    opened->writer->Close();
    End();
  });
}

void Member::Lead(Opened opened) {
  continued_ += opened.continued.has_value() ? 1 : 0;
  const uint64_t last_sequence = opened.log->last_sequence();
  controller::ClusterState state = opened.continued.has_value()
                                       ? std::move(opened.continued->state)
                                       : Replay(std::move(opened.recovery));
  controller::CoreOptions core;
  core.checkpoint_root = "/checkpoints";
  core.leader_term = kernel_->term();
  core.confirm_log_ms = kernel_->ContinuesLog() ? 0 : kConfirmLogMs;
  controller::WorkerKernel::Options options;
  options.cluster_id = "simulated";
  options.links = [](controller::LinkId) { return controller::LinkState{}; };
  options.marks = {
      .covers = [this](const v1::LogMark& mark) { return leading_->log->Covers(mark); },
      .newest = [this] { return leading_->log->NewestMark(); }};
  leading_ = std::make_unique<Leading>(core, std::move(options), std::move(opened));
  ++take_overs_;
  controller::TickKernel& tick = leading_->tick;
  tick.Restore(std::move(state), last_sequence);
  world_.audit.CheckState(tick.state(), last_sequence);
  leading_->snapshot_sequence = last_sequence;
  tick.StartClock("boot", Clock());
  tick.Start(tick.TimeAt(Clock()));
  tick.Listen([this](const controller::ClusterView& view, const auto& summary) {
    CarryOut(leading_->workers.AfterCommit(view, summary));
    if (summary.log_confirmed && !std::exchange(leading_->is_confirmed_noted, true)) {
      Run(kNoteMs, [this] { world_.database.ConfirmLog(kernel_->term()); });
    }
    return true;
  });
  RepeatTicks();
}

void Member::RepeatTicks() {
  Run(kTickMs, [this] {
    RepeatTicks();
    ScheduleTick();
  });
}

void Member::ScheduleTick() {
  if (std::exchange(leading_->tick_scheduled, true)) return;
  Run(0, [this] { OnLoop([this] { Tick(); }); });
}

void Member::OnLoop(std::function<void()> work) {
  if (leading_->is_appending) {
    leading_->waiting.push_back(std::move(work));
  } else {
    work();
  }
}

void Member::RunWaiting() {
  const uint64_t life = life_;
  while (life == life_ && !leading_->is_appending && !leading_->waiting.empty()) {
    const std::function<void()> work = std::move(leading_->waiting.front());
    leading_->waiting.pop_front();
    work();
  }
}

void Member::Tick() {
  controller::TickKernel& tick = leading_->tick;
  leading_->tick_scheduled = false;
  const Timestamp now = tick.BeginTick(Clock());
  tick.ExcuseOwnStall(now);
  CarryOut(leading_->workers.BeforeTick(now));
  if (!tick.no_space().ok()) {
    if (world_.agenda.now() >= leading_->retry_space_at_ms) return TryWrite();
    tick.AnswerWithoutSpace(now);
    return;
  }
  const std::vector<controller::LogRecord>& records = tick.Decide(now);
  if (records.empty()) return Committed();
  Append(records, tick.archived());
}

void Member::TryWrite() {
  leading_->is_appending = true;
  CallLog([](SimulatedEventLog& log, int64_t) { return log.TryWrite(); },
          [this](const absl::Status& status) {
            if (!status.ok() && !absl::IsResourceExhausted(status)) return End();
            controller::TickKernel& tick = leading_->tick;
            leading_->is_appending = false;
            if (status.ok()) {
              tick.SpaceIsBack(tick.TimeAt(Clock()));
            } else {
              tick.SetNoSpace(status);
              leading_->retry_space_at_ms = world_.agenda.now() + kSpaceRetryMs;
            }
            RunWaiting();
          });
}

// Each statement of the transaction is a round trip, and the process may be paused between them.
void Member::Append(const std::vector<controller::LogRecord>& records,
                    const std::vector<v1::ArchivedJob>& archived) {
  leading_->is_appending = true;
  leading_->appended_events = records.size();
  const AppendedBatch batch{records, archived};
  const auto commit = [this] {
    CallLog([](SimulatedEventLog& log, int64_t) { return log.CommitAppend(); },
            [this](const absl::Status& status) { Appended(status); });
  };
  const auto insert = [this, batch, commit] {
    CallLog([batch](SimulatedEventLog& log, int64_t) { return log.InsertEvents(batch); },
            [this, commit](const absl::Status& status) { ContinueAppend(status, commit); });
  };
  const auto begin = [this, insert] {
    CallLog([](SimulatedEventLog& log, int64_t) { return log.BeginAppend(); },
            [this, insert](const absl::Status& status) { ContinueAppend(status, insert); });
  };
  ContinueAppend(absl::OkStatus(), begin);
}

void Member::ContinueAppend(const absl::Status& status, const std::function<void()>& next) {
  if (!status.ok()) return Appended(status);
  AfterStep();
  Run(0, next);
}

void Member::Appended(const absl::Status& status) {
  switch (controller::OutcomeOf(status)) {
    case controller::CommitOutcome::kDurable:
      leading_->log->AppendEnded(leading_->appended_events);
      AfterStep();
      return Run(0, [this] {
        leading_->is_appending = false;
        Committed();
        if (leading_ != nullptr) RunWaiting();
      });
    case controller::CommitOutcome::kUndone:
      return UndoTick(status);
    case controller::CommitOutcome::kLeadershipLost:
      ++commits_refused_;
      return End();
    case controller::CommitOutcome::kUnknown:
      ++commits_unknown_;
      return End();
  }
}

void Member::Committed() {
  controller::TickKernel& tick = leading_->tick;
  tick.Committed(tick.TimeAt(Clock()));
  if (MayAnswer()) world_.audit.CheckState(tick.state(), tick.last_sequence());
  if (tick.waiting() > 0) ScheduleTick();
  WriteSnapshotIfDue();
}

void Member::UndoTick(const absl::Status& cause) {
  const auto recovery = std::make_shared<controller::EventLog::Recovery>();
  CallLog(
      [recovery](SimulatedEventLog& log, int64_t) {
        auto read = log.Recover();
        if (read.ok()) *recovery = *std::move(read);
        return read.status();
      },
      [this, recovery, cause](const absl::Status& status) {
        controller::TickKernel& tick = leading_->tick;
        if (!status.ok() || recovery->last_sequence != tick.last_sequence()) return End();
        tick.Undone(Replay(std::move(*recovery)), cause);
        leading_->retry_space_at_ms = world_.agenda.now() + kSpaceRetryMs;
        leading_->is_appending = false;
        tick.AnswerWithoutSpace(tick.TimeAt(Clock()));
        RunWaiting();
      });
}

// Snapshots are written one after another in sessions of their own, while the loop continues.
void Member::WriteSnapshotIfDue() {
  const uint64_t last_sequence = leading_->tick.last_sequence();
  const uint64_t events = last_sequence - leading_->snapshot_sequence;
  if (events < kEventsPerSnapshot || leading_->is_writing_snapshot) return;
  leading_->is_writing_snapshot = true;
  leading_->snapshot_sequence = last_sequence;
  const auto snapshot =
      std::make_shared<v1::Snapshot>(controller::ToSnapshot(leading_->tick.state(), last_sequence));
  Run(world_.random.Between(1, 1'000), [this, snapshot] {
    if (leading_->snapshot_writer != nullptr) leading_->snapshot_writer->Close();
    leading_->snapshot_writer = Connection::Open(number_, world_);
    if (leading_->snapshot_writer == nullptr) {
      leading_->is_writing_snapshot = false;
      return;
    }
    Call(
        leading_->snapshot_writer, kWriterLimits,
        [log = leading_->log, snapshot](int64_t session) -> std::optional<absl::Status> {
          return log->WriteSnapshot(*snapshot, session);
        },
        [this](const absl::Status&) { leading_->is_writing_snapshot = false; });
  });
}

}  // namespace trainyard::simulation
