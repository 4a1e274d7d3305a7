#include "controller/worker_sessions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// A command that is still due is sent again after this long.
constexpr int64_t kResendMs = 1000;
constexpr int64_t kHeartbeatSeconds = 1;
// A worker that reads none of its queued messages for this long is disconnected: it may be stuck,
// and messages to it must not pile up here.
constexpr int64_t kSlowConsumerMs = 30'000;
constexpr v1::StreamKind kStreamKinds[] = {v1::STREAM_KIND_TELEMETRY, v1::STREAM_KIND_LOG,
                                           v1::STREAM_KIND_PARSED_LOG};

// Streams of the attempts that a worker has on disk.
std::vector<StreamKey> StreamsOf(const v1::Hello& hello) {
  std::vector<StreamKey> streams;
  for (const v1::AttemptReport& attempt : hello.attempts()) {
    for (const v1::RankReport& rank : attempt.ranks()) {
      for (const v1::StreamKind kind : kStreamKinds) {
        streams.push_back({attempt.job_id(), attempt.attempt(), rank.rank(), kind});
      }
    }
    for (const v1::StreamEnd& end : attempt.stream_ends()) {
      streams.push_back(ToStreamKey(end.stream()));
    }
  }
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  return streams;
}

void SetStream(const StreamKey& key, v1::StreamId& id) {
  id.set_job_id(key.job_id);
  id.set_attempt(key.attempt);
  id.set_rank(key.rank);
  id.set_kind(key.kind);
}

std::tuple<int, int64_t, int64_t, int64_t> KeyOf(const v1::ControllerMessage& message) {
  const int kind = message.kind_case();
  switch (message.kind_case()) {
    case v1::ControllerMessage::kStartAttempt:
      return {kind, message.start_attempt().job_id(), message.start_attempt().attempt(), 0};
    case v1::ControllerMessage::kStopAttempt:
      return {kind, message.stop_attempt().job_id(), message.stop_attempt().attempt(),
              ToMs(message.stop_attempt().grace())};
    default:
      return {kind, message.forget_attempt().job_id(), message.forget_attempt().attempt(), 0};
  }
}

const v1::Attempt* FindAttempt(const ClusterState& state, const AttemptKey& key) {
  const JobEntry* entry = FindEntry(state, key.first);
  if (entry == nullptr) return nullptr;
  for (const v1::Attempt& attempt : entry->job.attempts()) {
    if (attempt.number() == key.second) return &attempt;
  }
  return nullptr;
}

}  // namespace

WorkerSessions::WorkerSessions(Loop& loop, Ingest& ingest, EventLog& event_log,
                               std::string cluster_id)
    : loop_(loop), ingest_(ingest), event_log_(event_log), cluster_id_(std::move(cluster_id)) {
  loop_.BeforeTick([this](Timestamp now) {
    RefreshPausedHeartbeats(now);
    DisconnectSlowWorkers(now);
  });
  loop_.Listen([this](const ClusterView& view, const TickSummary&) {
    SendCommands(view);
    return true;
  });
}

void WorkerSessions::OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                               ReadPermit permit) {
  auto shared = std::make_shared<v1::WorkerMessage>(std::move(message));
  loop_.Post([this, link, shared, permit = std::move(permit)]() mutable {
    Handle(link, std::move(*shared), std::move(permit));
  });
}

void WorkerSessions::OnClosed(const std::shared_ptr<WorkerLink>& link) {
  loop_.Post([this, link] {
    const auto found = by_link_.find(link.get());
    if (found == by_link_.end()) return;
    const SessionPtr session = found->second;
    spdlog::info("worker {} detached", session->node_id);
    Detach(session);
  });
}

void WorkerSessions::CloseAll(const absl::Status& status) {
  loop_.Post([this, status] {
    closed_ = status;
    for (const auto& [node_id, session] : sessions_) session->link->Close(status);
  });
}

void WorkerSessions::Handle(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                            ReadPermit permit) {
  if (message.has_hello()) {
    Attach(link, std::move(*message.mutable_hello()));
    return;
  }
  const auto found = by_link_.find(link.get());
  // The session was refused or replaced; the worker sends the message again on another stream.
  if (found == by_link_.end()) return;
  const SessionPtr session = found->second;
  loop_.observations().nodes[session->node_id].last_heartbeat_ms = loop_.View().now;
  if (message.has_heartbeat()) {
    ObserveHeartbeat(session->node_id, message.heartbeat(), loop_.View().now, loop_.observations());
  } else if (message.has_fact()) {
    HandleFact(session, std::move(*message.mutable_fact()), std::move(permit));
  } else if (message.has_telemetry()) {
    HandleTelemetry(session, std::move(*message.mutable_telemetry()), std::move(permit));
  } else if (message.has_log()) {
    HandleOutput(session, std::move(*message.mutable_log()), std::move(permit));
  }
}

void WorkerSessions::Attach(const std::shared_ptr<WorkerLink>& link, v1::Hello hello) {
  if (const absl::Status status = CheckAttach(hello, loop_.View().now); !status.ok()) {
    spdlog::warn("refused worker {} ({}): {}", hello.node_name(), hello.node_id(),
                 std::string(status.message()));
    link->Close(status);
    return;
  }
  if (const auto old = sessions_.find(hello.node_id()); old != sessions_.end()) {
    const SessionPtr replaced = old->second;
    Detach(replaced);
    replaced->link->CutOff(absl::AbortedError("a newer stream of the same worker took over"));
  }
  auto session = std::make_shared<Session>();
  session->link = link;
  session->node_id = hello.node_id();
  session->incarnation = hello.incarnation();
  session->opened_ms = session->taken_ms = loop_.View().now;
  sessions_[session->node_id] = session;
  by_link_[link.get()] = session;
  loop_.Submit(AttachWorker{hello}, [this, session, hello](const ClusterLoop::Outcome& outcome,
                                                           const ClusterView& view) {
    if (!IsCurrent(*session)) return;
    if (outcome.ok()) {
      FinishAttach(session, hello, view);
    } else {
      Detach(session);
      session->link->Close(outcome.status());
    }
  });
}

absl::Status WorkerSessions::CheckAttach(const v1::Hello& hello, Timestamp now) {
  if (!closed_.ok()) return closed_;
  if (!hello.cluster_id().empty() && hello.cluster_id() != cluster_id_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the worker's data directory belongs to cluster ", hello.cluster_id(),
        ", this controller is cluster ", cluster_id_,
        "; start the worker with a fresh --data-dir, or the controller with its old one"));
  }
  const auto old = sessions_.find(hello.node_id());
  if (old == sessions_.end() || old->second->incarnation == hello.incarnation()) {
    return absl::OkStatus();
  }
  const Timestamp heard =
      std::max(old->second->opened_ms, LastHeartbeat(loop_.observations(), hello.node_id()));
  // A stream whose worker was killed may not have been noticed as broken yet.
  if (now - heard > loop_.View().options.suspect_after_ms) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("another worker with node id ", hello.node_id(),
                   " is attached; does a second worker use the same --data-dir, or a copy of it?"));
}

void WorkerSessions::FinishAttach(const SessionPtr& session, const v1::Hello& hello,
                                  const ClusterView& view) {
  ObserveAttached(hello, view.now, loop_.observations());
  spdlog::info("worker {} ({}) attached from {}", hello.node_name(), hello.node_id(),
               hello.address());
  ingest_.ReadOffsets(StreamsOf(hello), [this, session](const auto& offsets) {
    loop_.Post([this, session, offsets] { SendWelcome(session, offsets); });
  });
}

void WorkerSessions::SendWelcome(const SessionPtr& session, const Ingest::Offsets& offsets) {
  if (!IsCurrent(*session)) return;
  session->stored = offsets;
  v1::ControllerMessage message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_fact_sequence(loop_.View().state.nodes.at(session->node_id).fact_sequence);
  welcome.mutable_heartbeat_interval()->set_seconds(kHeartbeatSeconds);
  welcome.set_cluster_id(cluster_id_);
  for (const auto& [stream, offset] : offsets) {
    if (offset == 0) continue;
    v1::StreamAcknowledged& stored = *welcome.add_streams();
    SetStream(stream, *stored.mutable_stream());
    stored.set_offset(offset);
  }
  session->link->Send(std::move(message));
  session->welcomed = true;
  loop_.ScheduleTick();
}

void WorkerSessions::Detach(const SessionPtr& session) {
  by_link_.erase(session->link.get());
  if (!IsCurrent(*session)) return;
  sessions_.erase(session->node_id);
  ObserveDetached(session->node_id, loop_.View().now, loop_.observations());
}

bool WorkerSessions::IsCurrent(const Session& session) const {
  const auto it = sessions_.find(session.node_id);
  return it != sessions_.end() && it->second.get() == &session;
}

void WorkerSessions::HandleFact(const SessionPtr& session, v1::Fact fact, ReadPermit permit) {
  const auto done = [this, session, permit](const ClusterLoop::Outcome& outcome,
                                            const ClusterView& view) {
    if (!IsCurrent(*session)) return;
    if (!outcome.ok()) {
      spdlog::error("fact of worker {} refused: {}", session->node_id, outcome.status().ToString());
      session->link->Close(outcome.status());
      return;
    }
    v1::ControllerMessage message;
    message.mutable_facts_acknowledged()->set_fact_sequence(
        view.state.nodes.at(session->node_id).fact_sequence);
    session->link->Send(std::move(message));
  };
  loop_.Submit(ReceiveFact{session->node_id, std::move(fact)}, done);
}

void WorkerSessions::RefreshPausedHeartbeats(Timestamp now) {
  // No heartbeat can be received from a worker that is not read from, so it counts as received.
  for (const auto& [node_id, session] : sessions_) {
    if (session->welcomed && !session->link->ReadingPaused()) continue;
    ObserveUnread(node_id, now, loop_.observations());
  }
}

void WorkerSessions::DisconnectSlowWorkers(Timestamp now) {
  for (const auto& [node_id, session] : sessions_) {
    const WorkerLink::Outgoing outgoing = session->link->outgoing();
    if (outgoing.waiting == 0 || outgoing.taken != session->taken || now < session->taken_ms) {
      session->taken = outgoing.taken;
      session->taken_ms = now;
    } else if (now - session->taken_ms >= kSlowConsumerMs) {
      spdlog::warn("worker {} has read nothing for {} s: its stream is cut off", node_id,
                   kSlowConsumerMs / 1000);
      session->link->CutOff(absl::ResourceExhaustedError("the worker does not read"));
    }
  }
}

void WorkerSessions::SendCommands(const ClusterView& view) {
  std::vector<Command> commands = CommandsDue(view.state, view.observations, view.now);
  AddForgetCommands(view, commands);
  std::map<Session*, SentTimes> due;
  for (Command& command : commands) {
    const auto it = sessions_.find(command.node_id);
    if (it == sessions_.end() || !it->second->welcomed) continue;
    Session& session = *it->second;
    const CommandKey key = KeyOf(command.message);
    const auto sent = session.sent.find(key);
    // A command that may still be queued for the worker is not sent again.
    const bool fresh =
        sent != session.sent.end() && view.now >= sent->second &&
        (view.now - sent->second < kResendMs || session.link->outgoing().waiting > 0);
    due[&session][key] = fresh ? sent->second : view.now;
    if (!fresh) session.link->Send(std::move(command.message));
  }
  // Commands that are no longer due have been answered by the worker.
  for (const auto& [node_id, session] : sessions_) session->sent = std::move(due[session.get()]);
}

void WorkerSessions::AddForgetCommands(const ClusterView& view,
                                       std::vector<Command>& commands) const {
  for (const auto& [node_id, session] : sessions_) {
    const auto node = view.observations.nodes.find(node_id);
    if (node == view.observations.nodes.end()) continue;
    for (const auto& [key, report] : node->second.reports) {
      if (!MayForget(*session, report, view)) continue;
      Command command{.node_id = node_id, .message = {}};
      command.message.mutable_forget_attempt()->set_job_id(key.first);
      command.message.mutable_forget_attempt()->set_attempt(key.second);
      commands.push_back(std::move(command));
    }
  }
}

bool WorkerSessions::MayForget(const Session& session, const v1::AttemptReport& report,
                               const ClusterView& view) const {
  const AttemptKey key{report.job_id(), report.attempt()};
  if (!AllStored(session, report) || IsLostToRestore(view.state, report.job_id())) return false;
  const v1::Attempt* attempt = FindAttempt(view.state, key);
  if (attempt != nullptr && attempt->state() != v1::ATTEMPT_STATE_ENDED) return false;
  const auto node = view.state.nodes.find(session.node_id);
  return node == view.state.nodes.end() || !node->second.uncleared.contains(key);
}

}  // namespace trainyard::controller
