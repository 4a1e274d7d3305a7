#include "tests/simulation/world/simulated_controller.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/reconcile.h"
#include "controller/core/support/core_options.h"

namespace trainyard::simulation {

using controller::StreamKey;
using controller::WorkerActions;

namespace {

constexpr uint64_t kEventsPerSnapshot = 50;
constexpr int64_t kSlowestWriteMs = 400;
constexpr int64_t kSpaceRetryMs = 250;

// Returns the newest `limit` events of the job, oldest first.
std::vector<v1::Event> JobEvents(const std::vector<v1::Event>& log, int64_t job_id, int limit) {
  std::vector<v1::Event> events;
  for (auto event = log.rbegin(); event != log.rend(); ++event) {
    if (controller::JobIdOf(*event) != job_id) continue;
    events.push_back(*event);
    if (static_cast<int>(events.size()) == limit) break;
  }
  std::ranges::reverse(events);
  return events;
}

}  // namespace

SimulatedController::SimulatedController(Network& network, Random& random,
                                         const controller::CoreOptions& options, Timestamp now)
    : network_(network), random_(random), options_(options), now_(now) {
  snapshot_ = controller::ToSnapshot(controller::ClusterState(), 0);
  Restart(now);
}

SimulatedController::~SimulatedController() = default;

Timestamp SimulatedController::Time() const { return process_->tick.TimeAt(Clocks()); }

const controller::ClusterState& SimulatedController::state() const {
  return process_->tick.state();
}

const controller::Promises& SimulatedController::promises() const {
  return process_->tick.promises();
}
controller::ClusterView SimulatedController::View() const { return process_->tick.View(Time()); }

void SimulatedController::Submit(controller::Request request) {
  process_->tick.Submit(std::move(request), [](const auto&, const auto&) {});
}

controller::ClusterState SimulatedController::Replay() const {
  controller::ClusterState state = controller::FromSnapshot(snapshot_);
  for (std::size_t i = snapshot_.last_sequence(); i < log_.size(); ++i) {
    controller::Apply(log_[i], state);
  }
  return state;
}

void SimulatedController::Restart(Timestamp now) {
  inbox_.clear();
  deposed_inbox_.clear();
  deposed_ = nullptr;
  network_.Kill(End::kController, "", now);
  StartProcess();
}

void SimulatedController::StartProcess() {
  controller::WorkerKernel::Options options;
  options.cluster_id = "simulated";
  options.links = [this](controller::LinkId link) -> controller::LinkState {
    return {network_.WaitingForWorker(link), network_.TakenByWorker(link), false};
  };
  options.marks = {
      .covers = [this](const v1::LogMark& mark) { return terms_.Covers(mark); },
      .newest = [this] { return terms_.Newest(); },
  };
  ++term_;
  terms_.Load(log_terms_, log_.size());
  RecordLosses();
  // Each process leads a term of its own, as on PostgreSQL.
  controller::CoreOptions core = options_;
  core.leader_term = static_cast<int64_t>(term_);
  process_ = std::make_unique<Process>(core, std::move(options));
  acting_ = process_.get();
  process_->tick.Restore(Replay(), log_.size());
  process_->tick.StartClock(absl::StrCat("boot at ", booted_ms_), Clocks());
  process_->tick.Start(Time());
  process_->tick.Listen([this](const controller::ClusterView& view, const auto& summary) {
    CarryOut(acting_->workers.AfterCommit(view, summary));
    return true;
  });
}

void SimulatedController::RecordLosses() {
  if (store_mark_.sequence() == 0 || terms_.Covers(store_mark_)) return;
  const controller::ReportLostEvents report{store_mark_, "logs.db", log_.size()};
  for (v1::Event& event : controller::DecideLostEvents(Replay(), report, Clocks().wall_ms)) {
    SetLeaderTerm(static_cast<int64_t>(term_), event);
    log_.push_back(std::move(event));
  }
  NoteAppended();
}

void SimulatedController::NoteAppended() {
  if (terms_.Newest().sequence() == log_.size()) return;
  if (terms_.Begins(term_)) log_terms_.push_back({terms_.Newest().sequence() + 1, term_});
  terms_.Appended(term_, log_.size());
}

v1::LogMark SimulatedController::NewestMark() const {
  v1::LogMark mark = terms_.Newest();
  mark.set_job_id(state().next_job_id - 1);
  return mark;
}

void SimulatedController::TakeCopy() {
  copy_ = {log_, log_terms_, snapshot_, archive_, store_, store_mark_};
}

void SimulatedController::PutCopyBack(bool all, Timestamp now) {
  log_ = copy_.log;
  log_terms_ = copy_.log_terms;
  snapshot_ = copy_.snapshot;
  archive_ = copy_.archive;
  if (all) {
    store_ = copy_.store;
    store_mark_ = copy_.store_mark;
  }
  Restart(now);
}

void SimulatedController::Tick(CrashPoint crash, Timestamp now) {
  now_ = now;
  if (crash == CrashPoint::kBetweenTicks) return Restart(now);
  if (deposed_ != nullptr) TickDeposed(now);
  controller::TickKernel& tick = process_->tick;
  for (Arrival& arrival : std::exchange(inbox_, {})) Handle(std::move(arrival), Time());
  DeliverStoreResults();
  tick.ExcuseOwnStall(tick.BeginTick(Clocks()));
  CarryOut(process_->workers.BeforeTick(Time()));
  if (!HasSpace(now)) {
    tick.AnswerWithoutSpace(Time());
    return RunStore(now);
  }
  const std::vector<controller::LogRecord>& events = tick.Decide(Time());
  if (crash == CrashPoint::kBeforeCommit) return Restart(now);
  if (!events.empty() && now < disk_full_until_ms_) {
    tick.Undone(Replay(), absl::ResourceExhaustedError("disk full"));
    process_->retry_space_at_ms = now + kSpaceRetryMs;
    tick.AnswerWithoutSpace(Time());
    return RunStore(now);
  }
  for (const controller::LogRecord& event : events) {
    log_.emplace_back().ParseFromString(event.payload);
    if (event.kind == v1::Event::kJobDeleted) archive_.erase(event.job_id);
  }
  for (const v1::ArchivedJob& job : tick.archived()) archive_[job.job().id()] = job;
  NoteAppended();
  if (crash == CrashPoint::kAfterCommit) return Restart(now);
  tick.Committed(Time());
  if (log_.size() - snapshot_.last_sequence() >= kEventsPerSnapshot) {
    snapshot_ = controller::ToSnapshot(tick.state(), log_.size());
  }
  AnswerLayoutQuestion(now);
  RunStore(now);
}

// The next tick decides about the chosen layout. If a crash loses the question, the question is
// asked again.
void SimulatedController::AnswerLayoutQuestion(Timestamp now) {
  const controller::ClusterView view = process_->tick.View(now);
  if (view.schedule.layout_questions.empty()) return;
  const controller::LayoutQuestion& question = view.schedule.layout_questions.front();
  const controller::JobEntry* entry = FindEntry(view.state, question.job_id);
  if (entry == nullptr) return;
  const v1::JobSpec& spec = entry->job.spec();
  const controller::LayoutNodes nodes = controller::NodesFor(view.state, spec, question);
  Submit(controller::ChooseLayout{question.job_id,
                                  controller::ChooseLayoutFor(spec, question, nodes)});
}

bool SimulatedController::HasSpace(Timestamp now) {
  if (process_->tick.no_space().ok()) return true;
  if (now < process_->retry_space_at_ms) return false;
  if (now >= disk_full_until_ms_) {
    process_->tick.SpaceIsBack(Time());
    return true;
  }
  process_->tick.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  process_->retry_space_at_ms = now + kSpaceRetryMs;
  return false;
}

void SimulatedController::Handle(Arrival arrival, Timestamp now) {
  controller::WorkerKernel& workers = acting_->workers;
  if (std::holds_alternative<StreamClosed>(arrival.message)) {
    return CarryOut(workers.Closed(arrival.stream));
  }
  acting_->node_of_stream[arrival.stream] = arrival.node_id;
  CarryOut(workers.Receive(arrival.stream, std::get<v1::WorkerMessage>(std::move(arrival.message)),
                           nullptr, now));
}

void SimulatedController::CarryOut(WorkerActions actions) {
  for (controller::WorkerAction& action : actions) {
    std::visit([this](auto& one) { CarryOutOne(one); }, action);
  }
}

void SimulatedController::CarryOutOne(controller::SendMessage& action) {
  const std::string& node_id = acting_->node_of_stream[action.link];
  if (acting_ == process_.get()) sent_.push_back({action.link, node_id, action.message});
  network_.Send(action.link, std::move(action.message), now_);
}

void SimulatedController::CarryOutOne(controller::EndLink& action) {
  if (action.at_once) {
    network_.Break(action.link, now_);
  } else {
    network_.Close(action.link, End::kController, now_);
    // gRPC also reports the close once the stream has finished.
    inbox_.push_back({action.link, "", StreamClosed{}});
  }
}

void SimulatedController::CarryOutOne(controller::SubmitRequest& action) {
  acting_->tick.Submit(std::move(action.request),
                       [this, tag = action.tag](const controller::RequestOutcome& outcome,
                                                const controller::ClusterView& view) {
                         CarryOut(acting_->workers.Answered(tag, outcome.status(), view.now));
                       });
}

void SimulatedController::CarryOutOne(controller::ReadOffsets& action) {
  acting_->store_queue.emplace_back(std::move(action));
}

void SimulatedController::CarryOutOne(controller::StoreTelemetry& action) {
  controller::Stored stored = ToKernel(action.link, action.batch.stream());
  acting_->store_queue.emplace_back(
      controller::TelemetryItem{std::move(action.batch), std::move(stored)});
}

void SimulatedController::CarryOutOne(controller::StoreOutput& action) {
  controller::Stored stored = ToKernel(action.link, action.chunk.stream());
  acting_->store_queue.emplace_back(
      controller::OutputItem{std::move(action.chunk), std::move(stored)});
}

controller::Stored SimulatedController::ToKernel(int64_t link, const v1::StreamId& stream) {
  return [this, link, stream](const absl::StatusOr<int64_t>& offset) {
    acting_->store_results.emplace_back(
        [this, link, stream, offset] { return acting_->workers.Stored(link, stream, offset); });
  };
}

// Runs the storage thread, which takes the queued items and completes writing them some time later.
// A crash before the completion loses the items; a later crash loses the replies.
void SimulatedController::RunStore(Timestamp now) {
  if (now < store_busy_until_ms_) return;
  if (acting_->store.HasGroup()) WriteGroup();
  while (!acting_->store_queue.empty()) {
    Process::StoreItem& front = acting_->store_queue.front();
    if (auto* telemetry = std::get_if<controller::TelemetryItem>(&front)) {
      LearnOffset(controller::ToStreamKey(telemetry->batch.stream()));
      acting_->store.Add(std::move(*telemetry));
    } else if (auto* output = std::get_if<controller::OutputItem>(&front)) {
      LearnOffset(controller::ToStreamKey(output->chunk.stream()));
      acting_->store.Add(std::move(*output));
    } else {
      // The item is answered only after all earlier items are stored.
      if (acting_->store.HasGroup()) break;
      AnswerOffsets(std::get<controller::ReadOffsets>(front));
    }
    acting_->store_queue.pop_front();
  }
  Reply();
  store_busy_until_ms_ = now + random_.Between(1, kSlowestWriteMs);
}

void SimulatedController::LearnOffset(const StreamKey& stream) {
  if (!acting_->store.Knows(stream)) acting_->store.SetOffset(stream, store_.OffsetOf(stream));
}

void SimulatedController::AnswerOffsets(const controller::ReadOffsets& question) {
  controller::StreamOffsets offsets;
  for (const StreamKey& stream : question.streams) offsets[stream] = store_.OffsetOf(stream);
  controller::LoggedAlerts alerts =
      controller::ReadLoggedAlerts(question.attempts, [this](int64_t job_id, int limit) {
        return absl::StatusOr<std::vector<v1::Event>>(JobEvents(log_, job_id, limit));
      });
  controller::ArchivedJobs archived;
  for (const int64_t job_id : question.archived_jobs) {
    const auto found = archive_.find(job_id);
    archived[job_id] =
        found == archive_.end() ? std::nullopt : std::optional<v1::ArchivedJob>(found->second);
  }
  acting_->store_results.emplace_back(
      [this, link = question.link, offsets, alerts = std::move(alerts), archived] {
        return acting_->workers.OffsetsRead(link, offsets, alerts, archived);
      });
}

void SimulatedController::WriteGroup() {
  for (const controller::MetricBatch& batch : acting_->store.group().metrics) {
    store_.Append(batch);
  }
  for (const controller::LogBatch& batch : acting_->store.group().logs) store_.Append(batch);
  acting_->store.GroupStored();
  store_mark_ = NewestMark();
  Reply();
}

void SimulatedController::Reply() {
  for (const auto& one : acting_->store.TakeReplies()) one.stored(one.result);
}

void SimulatedController::DeliverStoreResults() {
  for (const StoreResult& result : std::exchange(acting_->store_results, {})) CarryOut(result());
}

}  // namespace trainyard::simulation
