#include "tests/simulation/simulated_controller.h"

#include <algorithm>
#include <utility>

#include "controller/core/apply.h"
#include "controller/core/commands.h"
#include "controller/core/reconcile.h"

namespace trainyard::simulation {

using controller::Observations;

namespace {

constexpr int64_t kSessionTimeoutMs = 10000;
constexpr int64_t kCommandAgainMs = 1000;
// A longer gap between two ticks means that the controller itself stalled.
constexpr int64_t kStallMs = 1000;
constexpr int kMaxReconcilePasses = 100;
constexpr uint64_t kEventsPerSnapshot = 50;

}  // namespace

SimulatedController::SimulatedController(Network& network, const controller::CoreOptions& options,
                                         Timestamp now)
    : network_(network), options_(options), last_tick_ms_(now) {
  snapshot_ = controller::ToSnapshot(state_, 0);
  observations_.since_ms = now;
}

void SimulatedController::Restart(Timestamp now) {
  ++generation_;
  inbox_.clear();
  requests_.clear();
  uncommitted_.clear();
  telemetry_uncommitted_ = telemetry_;
  replies_.clear();
  sessions_.clear();
  commands_sent_ms_.clear();
  observations_ = Observations{};
  observations_.since_ms = now;
  last_tick_ms_ = now;
  state_ = controller::FromSnapshot(snapshot_);
  for (std::size_t i = snapshot_.last_sequence(); i < log_.size(); ++i) {
    controller::Apply(log_[i], state_);
  }
}

void SimulatedController::Tick(CrashPoint crash, Timestamp now) {
  if (crash == CrashPoint::kBetweenTicks) return Restart(now);
  const int64_t gap_ms = now - std::exchange(last_tick_ms_, now);
  if (gap_ms > kStallMs) ShiftHeartbeats(gap_ms, now, observations_);
  for (const controller::Request& request : std::exchange(requests_, {})) Decide(request, now);
  for (const Envelope& envelope : std::exchange(inbox_, {})) Handle(envelope, now);
  DetachUnresponsive(now);
  ReconcileAll(now);
  if (crash == CrashPoint::kBeforeCommit) return Restart(now);
  log_.insert(log_.end(), uncommitted_.begin(), uncommitted_.end());
  uncommitted_.clear();
  telemetry_ = telemetry_uncommitted_;
  if (crash == CrashPoint::kAfterCommit) return Restart(now);
  SendReplies(now);
  SendCommands(now);
  if (log_.size() - snapshot_.last_sequence() >= kEventsPerSnapshot) {
    snapshot_ = controller::ToSnapshot(state_, log_.size());
  }
}

bool SimulatedController::Decide(const controller::Request& request, Timestamp now) {
  const auto events = controller::Decide(state_, request, options_, now);
  if (!events.ok()) return false;
  for (const v1::Event& event : *events) {
    controller::Apply(event, state_);
    uncommitted_.push_back(event);
  }
  return true;
}

void SimulatedController::Handle(const Envelope& envelope, Timestamp now) {
  if (envelope.controller_generation != generation_) return;
  const auto& message = std::get<v1::WorkerMessage>(envelope.message);
  if (message.has_hello()) return HandleHello(envelope, message.hello(), now);
  Session& session = sessions_[envelope.node_id];
  if (!session.attached || session.connection != envelope.connection) return;
  session.heartbeat_ms = now;
  if (message.has_heartbeat()) {
    ObserveHeartbeat(envelope.node_id, message.heartbeat(), now, observations_);
    Reply(envelope, {});
  } else if (message.has_fact()) {
    Decide(controller::ReceiveFact{envelope.node_id, message.fact()}, now);
    Reply(envelope, {});
  } else if (message.has_telemetry()) {
    HandleTelemetry(envelope, message.telemetry(), now);
  }
}

void SimulatedController::HandleHello(const Envelope& envelope, const v1::Hello& hello,
                                      Timestamp now) {
  Session& session = sessions_[envelope.node_id];
  // A stream carries one Hello; an older stream is dead.
  if (envelope.connection <= session.connection) return;
  if (!Decide(controller::AttachWorker{hello}, now)) return;
  session = {envelope.connection, now, true};
  ObserveAttached(hello, now, observations_);
  v1::ControllerMessage welcome;
  welcome.mutable_welcome();
  Reply(envelope, std::move(welcome));
}

void SimulatedController::HandleTelemetry(const Envelope& envelope, const v1::TelemetryBatch& batch,
                                          Timestamp now) {
  const v1::StreamId& stream = batch.stream();
  int64_t& stored = telemetry_uncommitted_[{stream.job_id(), stream.attempt(), stream.rank()}];
  if (batch.begin_offset() > stored) return;
  v1::TelemetryBatch fresh = batch;
  const auto known = std::min<int64_t>(stored - batch.begin_offset(), batch.records_size());
  fresh.mutable_records()->DeleteSubrange(0, static_cast<int>(known));
  for (const v1::TelemetryRecord& record : fresh.records()) {
    Decide(controller::ReceiveTelemetry{stream.job_id(), stream.attempt(), stream.rank(), record},
           now);
  }
  if (fresh.records_size() > 0) ObserveTelemetry(fresh, now, observations_);
  stored = std::max(stored, batch.end_offset());
  v1::ControllerMessage acknowledged;
  *acknowledged.mutable_stream_acknowledged()->mutable_stream() = stream;
  acknowledged.mutable_stream_acknowledged()->set_offset(stored);
  Reply(envelope, std::move(acknowledged));
}

void SimulatedController::DetachUnresponsive(Timestamp now) {
  for (auto& [node_id, session] : sessions_) {
    if (!session.attached || now - session.heartbeat_ms < kSessionTimeoutMs) continue;
    session.attached = false;
    ObserveDetached(node_id, now, observations_);
  }
}

void SimulatedController::ReconcileAll(Timestamp now) {
  for (int i = 0; i < kMaxReconcilePasses; ++i) {
    const std::vector<v1::Event> events =
        controller::Reconcile(state_, observations_, options_, now);
    if (events.empty()) return;
    for (const v1::Event& event : events) {
      controller::Apply(event, state_);
      uncommitted_.push_back(event);
    }
  }
}

void SimulatedController::Reply(const Envelope& to, v1::ControllerMessage message) {
  replies_.push_back({to.node_id, to.connection, generation_, std::move(message)});
}

void SimulatedController::SendReplies(Timestamp now) {
  for (Envelope& reply : replies_) {
    auto& message = std::get<v1::ControllerMessage>(reply.message);
    const uint64_t facts = state_.nodes.at(reply.node_id).fact_sequence;
    if (message.has_welcome()) message.mutable_welcome()->set_fact_sequence(facts);
    if (message.kind_case() == v1::ControllerMessage::KIND_NOT_SET) {
      message.mutable_facts_acknowledged()->set_fact_sequence(facts);
    }
    network_.Send(reply, now);
  }
  replies_.clear();
}

void SimulatedController::SendCommands(Timestamp now) {
  for (const controller::Command& command : controller::CommandsDue(state_, observations_, now)) {
    const bool starts = command.message.has_start_attempt();
    const auto& start = command.message.start_attempt();
    const auto& stop = command.message.stop_attempt();
    Timestamp& sent_ms =
        commands_sent_ms_[{command.node_id, starts ? start.job_id() : stop.job_id(),
                           starts ? start.attempt() : stop.attempt(), starts}];
    if (sent_ms != 0 && now - sent_ms < kCommandAgainMs) continue;
    sent_ms = now;
    const Session& session = sessions_[command.node_id];
    network_.Send({command.node_id, session.connection, generation_, command.message}, now);
  }
}

}  // namespace trainyard::simulation
