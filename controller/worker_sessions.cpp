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
// How long a log reader waits for the rest of an ended job's output from a node that is away.
constexpr int64_t kAwayNodeMs = 10'000;

// Newest events of a job that may hold an alert whose bytes were not stored.
constexpr int kEventsSearched = 1000;

// Size at which a set of things seen begins anew.
constexpr std::size_t kMaxRemembered = 100'000;

// Inserts into a set that may forget: what it holds only saves work.
template <typename Key>
bool Remember(const Key& key, std::set<Key>& remembered) {
  if (remembered.size() >= kMaxRemembered) remembered.clear();
  return remembered.insert(key).second;
}

constexpr v1::StreamKind kStreamKinds[] = {v1::STREAM_KIND_TELEMETRY, v1::STREAM_KIND_LOG,
                                           v1::STREAM_KIND_PARSED_LOG};

// Streams of the attempts that a worker has on disk.
std::vector<StreamKey> StreamsOf(const v1::Hello& hello) {
  std::vector<StreamKey> streams;
  for (const v1::AttemptReport& attempt : hello.attempts()) {
    for (const v1::RankReport& rank : attempt.ranks()) {
      for (const v1::StreamKind kind : kStreamKinds) {
        streams.push_back({attempt.job_id(), attempt.epoch(), rank.rank(), kind});
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
  id.set_epoch(key.epoch);
  id.set_rank(key.rank);
  id.set_kind(key.kind);
}

int64_t StoredOffset(const Ingest::Offsets& offsets, const StreamKey& stream) {
  const auto it = offsets.find(stream);
  return it == offsets.end() ? 0 : it->second;
}

std::tuple<int, int64_t, int64_t, int64_t> KeyOf(const v1::ControllerMessage& message) {
  const int kind = message.kind_case();
  switch (message.kind_case()) {
    case v1::ControllerMessage::kStartAttempt:
      return {kind, message.start_attempt().job_id(), message.start_attempt().epoch(), 0};
    case v1::ControllerMessage::kStopAttempt:
      return {kind, message.stop_attempt().job_id(), message.stop_attempt().epoch(),
              ToMs(message.stop_attempt().grace())};
    default:
      return {kind, message.forget_attempt().job_id(), message.forget_attempt().epoch(), 0};
  }
}

const v1::Attempt* FindAttempt(const ClusterState& state, const AttemptKey& key) {
  const JobEntry* entry = FindEntry(state, key.first);
  if (entry == nullptr) return nullptr;
  for (const v1::Attempt& attempt : entry->job.attempts()) {
    if (attempt.epoch() == key.second) return &attempt;
  }
  return nullptr;
}

}  // namespace

WorkerSessions::WorkerSessions(Loop& loop, Ingest& ingest, EventLog& event_log,
                               std::string cluster_id)
    : loop_(loop), ingest_(ingest), event_log_(event_log), cluster_id_(std::move(cluster_id)) {
  loop_.BeforeTick([this](Timestamp now) { HearPausedWorkers(now); });
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
  // Its session was refused or replaced; what it says comes again on another stream.
  if (found == by_link_.end()) return;
  const SessionPtr session = found->second;
  loop_.observations().nodes[session->node_id].last_heard_ms = loop_.View().now;
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
    replaced->link->Close(absl::AbortedError("a newer stream of the same worker took over"));
  }
  auto session = std::make_shared<Session>();
  session->link = link;
  session->node_id = hello.node_id();
  session->incarnation = hello.incarnation();
  session->opened_ms = loop_.View().now;
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
      std::max(old->second->opened_ms, LastHeard(loop_.observations(), hello.node_id()));
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

void WorkerSessions::SendWelcome(const SessionPtr& session,
                                 const absl::StatusOr<Ingest::Offsets>& offsets) {
  if (!IsCurrent(*session)) return;
  if (!offsets.ok()) {
    spdlog::error("cannot read how far streams are stored: {}", offsets.status().ToString());
    session->link->Close(absl::UnavailableError("the controller cannot read its store"));
    return;
  }
  session->stored = *offsets;
  v1::ControllerMessage message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_fact_sequence(loop_.View().state.nodes.at(session->node_id).fact_sequence);
  welcome.mutable_heartbeat_interval()->set_seconds(kHeartbeatSeconds);
  welcome.set_cluster_id(cluster_id_);
  for (const auto& [stream, offset] : *offsets) {
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

void WorkerSessions::HandleTelemetry(const SessionPtr& session, v1::TelemetryBatch batch,
                                     ReadPermit permit) {
  if (!KnowsJob(batch.stream().job_id())) {
    Acknowledge(session, batch.stream(), batch.end_offset());
    return;
  }
  if (batch.bad_lines() > 0) {
    spdlog::warn("job {} attempt {} rank {}: {} telemetry lines could not be read",
                 batch.stream().job_id(), batch.stream().epoch(), batch.stream().rank(),
                 batch.bad_lines());
  }
  if (batch.end_offset() > StoredOffset(session->stored, ToStreamKey(batch.stream()))) {
    ObserveTelemetry(batch, loop_.View().now, loop_.observations());
  }
  DropKnownAlerts(batch);
  auto pending = std::make_shared<PendingTelemetry>();
  pending->batch = std::move(batch);
  pending->permit = std::move(permit);
  session->telemetry.push_back(pending);
  SubmitFindings(session, pending);
  StoreCommitted(session);
}

// Checkpoints and alerts are facts: they are in the event log before their bytes are acknowledged.
void WorkerSessions::SubmitFindings(const SessionPtr& session,
                                    const std::shared_ptr<PendingTelemetry>& pending) {
  const v1::StreamId& stream = pending->batch.stream();
  for (const v1::TelemetryRecord& record : pending->batch.records()) {
    if (!record.has_checkpoint() && !record.has_alert()) continue;
    ++pending->uncommitted;
    loop_.Submit(ReceiveTelemetry{stream.job_id(), stream.epoch(), stream.rank(), record},
                 [this, session, pending](const ClusterLoop::Outcome& outcome, const ClusterView&) {
                   if (!outcome.ok()) {
                     spdlog::warn("telemetry of worker {} refused: {}", session->node_id,
                                  outcome.status().ToString());
                   }
                   --pending->uncommitted;
                   StoreCommitted(session);
                 });
  }
}

// A controller that died between the commit of an alert and the storing of its bytes gets them
// again in the first batch of the stream; the state does not know alerts, the log does.
void WorkerSessions::DropKnownAlerts(v1::TelemetryBatch& batch) {
  if (!Remember(ToStreamKey(batch.stream()), heard_streams_)) return;
  auto& records = *batch.mutable_records();
  const auto is_alert = [](const v1::TelemetryRecord& record) { return record.has_alert(); };
  if (std::none_of(records.begin(), records.end(), is_alert)) return;
  const auto events = event_log_.ReadJobEvents(batch.stream().job_id(), kEventsSearched);
  if (!events.ok()) {
    spdlog::warn("cannot look for known alerts: {}", events.status().ToString());
    return;
  }
  std::set<std::tuple<int64_t, int64_t, std::string>> known;
  for (const v1::Event& event : *events) {
    const v1::AlertRaised& alert = event.alert_raised();
    if (event.has_alert_raised()) known.emplace(alert.epoch(), alert.step(), alert.code());
  }
  const auto kept = std::remove_if(records.begin(), records.end(), [&](const auto& record) {
    return record.has_alert() &&
           known.contains({batch.stream().epoch(), record.alert().step(), record.alert().code()});
  });
  records.erase(kept, records.end());
}

void WorkerSessions::StoreCommitted(const SessionPtr& session) {
  while (!session->telemetry.empty() && session->telemetry.front()->uncommitted == 0) {
    const auto pending = std::move(session->telemetry.front());
    session->telemetry.pop_front();
    const v1::StreamId stream = pending->batch.stream();
    ingest_.AddTelemetry(std::move(pending->batch),
                         AcknowledgeWhenStored(session, stream, std::move(pending->permit)));
  }
}

void WorkerSessions::HandleOutput(const SessionPtr& session, v1::LogChunk chunk,
                                  ReadPermit permit) {
  const v1::StreamId stream = chunk.stream();
  if (!KnowsJob(stream.job_id())) {
    Acknowledge(session, stream, chunk.begin_offset() + static_cast<int64_t>(chunk.data().size()));
    return;
  }
  ingest_.AddOutput(std::move(chunk), AcknowledgeWhenStored(session, stream, std::move(permit)));
}

Ingest::Stored WorkerSessions::AcknowledgeWhenStored(const SessionPtr& session,
                                                     const v1::StreamId& stream,
                                                     ReadPermit permit) {
  return [this, session, stream,
          permit = std::move(permit)](const absl::StatusOr<int64_t>& offset) {
    loop_.Post([this, session, stream, permit, offset] { Acknowledge(session, stream, offset); });
  };
}

void WorkerSessions::Acknowledge(const SessionPtr& session, const v1::StreamId& stream,
                                 const absl::StatusOr<int64_t>& offset) {
  if (!IsCurrent(*session)) return;
  if (!offset.ok()) {
    spdlog::error("worker {}: {}", session->node_id, offset.status().ToString());
    session->link->Close(offset.status());
    return;
  }
  int64_t& stored = session->stored[ToStreamKey(stream)];
  stored = std::max(stored, *offset);
  v1::ControllerMessage message;
  *message.mutable_stream_acknowledged()->mutable_stream() = stream;
  message.mutable_stream_acknowledged()->set_offset(stored);
  session->link->Send(std::move(message));
}

// Job numbers are durable before a worker hears of them, so this is nothing of ours: let the worker
// get rid of it.
bool WorkerSessions::KnowsJob(int64_t job_id) {
  if (FindEntry(loop_.View().state, job_id) != nullptr) return true;
  if (Remember(job_id, unknown_jobs_)) {
    spdlog::warn("a worker sent telemetry or output of unknown job {}; it is not kept", job_id);
  }
  return false;
}

void WorkerSessions::HearPausedWorkers(Timestamp now) {
  // Who is not read cannot be heard.
  for (const auto& [node_id, session] : sessions_) {
    const auto node = loop_.observations().nodes.find(node_id);
    if (node == loop_.observations().nodes.end()) continue;
    if (!session->welcomed || session->link->ReadingPaused()) node->second.last_heard_ms = now;
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
    const bool fresh = sent != session.sent.end() && view.now >= sent->second &&
                       view.now - sent->second < kResendMs;
    due[&session][key] = fresh ? sent->second : view.now;
    if (!fresh) session.link->Send(std::move(command.message));
  }
  // What is due no more has been answered.
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
      command.message.mutable_forget_attempt()->set_epoch(key.second);
      commands.push_back(std::move(command));
    }
  }
}

bool WorkerSessions::MayForget(const Session& session, const v1::AttemptReport& report,
                               const ClusterView& view) const {
  const AttemptKey key{report.job_id(), report.epoch()};
  if (!AllStored(session, report)) return false;
  const v1::Attempt* attempt = FindAttempt(view.state, key);
  if (attempt != nullptr && attempt->state() != v1::ATTEMPT_STATE_ENDED) return false;
  const auto node = view.state.nodes.find(session.node_id);
  return node == view.state.nodes.end() || !node->second.uncleared.contains(key);
}

bool WorkerSessions::AllStored(const Session& session, const v1::AttemptReport& report) {
  if (!report.cleared()) return false;
  return std::all_of(
      report.stream_ends().begin(), report.stream_ends().end(), [&](const v1::StreamEnd& end) {
        return StoredOffset(session.stored, ToStreamKey(end.stream())) >= end.end_offset();
      });
}

bool WorkerSessions::OutputComplete(const JobEntry& entry, const ClusterView& view) const {
  const Timestamp quiet_since = std::max(entry.job.ended_time_ms(), view.observations.since_ms);
  const bool waited_enough = view.now - quiet_since > kAwayNodeMs;
  for (const v1::Attempt& attempt : entry.job.attempts()) {
    for (const std::string& node_id : GangNodes(attempt)) {
      if (!sessions_.contains(node_id) && waited_enough) continue;
      if (!NodeOutputComplete(node_id, {entry.job.id(), attempt.epoch()}, view)) return false;
    }
  }
  return true;
}

bool WorkerSessions::NodeOutputComplete(const std::string& node_id, const AttemptKey& attempt,
                                        const ClusterView& view) const {
  const auto node = view.state.nodes.find(node_id);
  if (node == view.state.nodes.end() || node->second.node.state() == v1::NODE_STATE_LOST) {
    return true;
  }
  const auto session = sessions_.find(node_id);
  const auto observed = view.observations.nodes.find(node_id);
  if (session == sessions_.end() || !session->second->welcomed ||
      observed == view.observations.nodes.end()) {
    return false;
  }
  const auto report = observed->second.reports.find(attempt);
  // A worker forgets an attempt only once all of it is stored.
  return report == observed->second.reports.end() || AllStored(*session->second, report->second);
}

}  // namespace trainyard::controller
