// The streams of the attached workers: telemetry and output on their way to the stores.
#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/worker_sessions.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// Time that a log reader waits for the rest of an ended job's output from a disconnected node.
constexpr int64_t kDisconnectedNodeMs = 10'000;

// Newest events of a job that are searched for alerts whose bytes were not stored.
constexpr int kEventsSearched = 1000;

// Size at which a set of keys already seen is emptied.
constexpr std::size_t kMaxRemembered = 100'000;

// Inserts into a set that may be emptied at any time: its keys only save work.
template <typename Key>
bool Remember(const Key& key, std::set<Key>& remembered) {
  if (remembered.size() >= kMaxRemembered) remembered.clear();
  return remembered.insert(key).second;
}

int64_t StoredOffset(const Ingest::Offsets& offsets, const StreamKey& stream) {
  const auto it = offsets.find(stream);
  return it == offsets.end() ? 0 : it->second;
}

}  // namespace

void WorkerSessions::HandleTelemetry(const SessionPtr& session, v1::TelemetryBatch batch,
                                     ReadPermit permit) {
  if (!KnowsJob(batch.stream().job_id())) {
    Acknowledge(session, batch.stream(), Unkept(batch.stream().job_id(), batch.end_offset()));
    return;
  }
  if (batch.bad_lines() > 0) {
    spdlog::warn("job {} attempt {} rank {}: {} telemetry lines could not be read",
                 batch.stream().job_id(), batch.stream().attempt(), batch.stream().rank(),
                 batch.bad_lines());
  }
  if (batch.end_offset() > StoredOffset(session->stored, ToStreamKey(batch.stream()))) {
    ObserveTelemetry(batch, loop_.View().now, loop_.observations());
    KeepReportingRanksMetrics(loop_.observations(), batch);
    if (on_telemetry_) on_telemetry_(batch, loop_.View().now);
  }
  DropKnownAlerts(batch);
  auto pending = std::make_shared<PendingTelemetry>();
  pending->batch = std::move(batch);
  pending->permit = std::move(permit);
  session->telemetry.push_back(pending);
  SubmitRecords(session, pending);
  StoreCommitted(session);
}

// Checkpoints and alerts are facts: they are in the event log before their bytes are acknowledged.
void WorkerSessions::SubmitRecords(const SessionPtr& session,
                                   const std::shared_ptr<PendingTelemetry>& pending) {
  const v1::StreamId& stream = pending->batch.stream();
  for (const v1::TelemetryRecord& record : pending->batch.records()) {
    if (!record.has_checkpoint() && !record.has_alert()) continue;
    ++pending->uncommitted;
    const std::function<void()> go_on = [this, session, pending] {
      --pending->uncommitted;
      StoreCommitted(session);
    };
    if (!record.has_alert()) {
      SubmitRecord(session, stream, record, go_on);
      continue;
    }
    const Alert alert{ToStreamKey(stream), record.alert().step(), record.alert().code()};
    const auto [waiting, is_new] = alerts_under_way_.try_emplace(alert);
    waiting->second.push_back(go_on);
    // An alert that was received again before its commit waits for it and is not raised twice.
    if (!is_new) continue;
    SubmitRecord(session, stream, record, [this, alert] {
      const auto committed = alerts_under_way_.extract(alert);
      for (const auto& waited : committed.mapped()) waited();
    });
  }
}

void WorkerSessions::SubmitRecord(const SessionPtr& session, const v1::StreamId& stream,
                                  const v1::TelemetryRecord& record,
                                  std::function<void()> committed) {
  loop_.Submit(ReceiveTelemetry{stream.job_id(), stream.attempt(), stream.rank(), record},
               [session, committed = std::move(committed)](const ClusterLoop::Outcome& outcome,
                                                           const ClusterView&) {
                 if (!outcome.ok()) {
                   spdlog::warn("telemetry of worker {} refused: {}", session->node_id,
                                outcome.status().ToString());
                 }
                 committed();
               });
}

// Removes alerts that are in the event log already; the state does not hold alerts. Bytes that were
// not stored are sent again when a worker attaches again; after a restart of the controller, in the
// first batch of the stream.
void WorkerSessions::DropKnownAlerts(v1::TelemetryBatch& batch) {
  if (received_until_.size() >= kMaxRemembered) received_until_.clear();
  const auto [heard, is_first] = received_until_.try_emplace(ToStreamKey(batch.stream()), 0);
  const int64_t received_until = heard->second;
  heard->second = std::max(received_until, batch.end_offset());
  if (!is_first && batch.begin_offset() >= received_until) return;
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
    if (event.has_alert_raised()) known.emplace(alert.attempt(), alert.step(), alert.code());
  }
  const auto kept = std::remove_if(records.begin(), records.end(), [&](const auto& record) {
    return record.has_alert() &&
           known.contains({batch.stream().attempt(), record.alert().step(), record.alert().code()});
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
    const int64_t end = chunk.begin_offset() + static_cast<int64_t>(chunk.data().size());
    Acknowledge(session, stream, Unkept(stream.job_id(), end));
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
  v1::ControllerMessage message;
  v1::StreamAcknowledged& acknowledged = *message.mutable_stream_acknowledged();
  *acknowledged.mutable_stream() = stream;
  if (absl::IsDataLoss(offset.status())) {
    if (!session->quarantined.insert(ToStreamKey(stream)).second) return;
    acknowledged.set_offset(StoredOffset(session->stored, ToStreamKey(stream)));
    acknowledged.set_quarantined(true);
    session->link->Send(std::move(message));
    return;
  }
  if (!offset.ok()) {
    spdlog::error("worker {}: {}", session->node_id, offset.status().ToString());
    session->link->Close(offset.status());
    return;
  }
  int64_t& stored = session->stored[ToStreamKey(stream)];
  stored = std::max(stored, *offset);
  acknowledged.set_offset(stored);
  session->link->Send(std::move(message));
}

// A job number is durable before a worker receives it, so an unknown job is not one of this cluster
// and its worker may delete the data. Data of a job that is only lost to a restore are kept: they
// may be all that is left of the job.
absl::StatusOr<int64_t> WorkerSessions::Unkept(int64_t job_id, int64_t end_offset) {
  if (!IsLostToRestore(loop_.View().state, job_id)) return end_offset;
  return absl::DataLossError("the job is not in the backup that was restored");
}

bool WorkerSessions::KnowsJob(int64_t job_id) {
  if (FindEntry(loop_.View().state, job_id) != nullptr) return true;
  if (!Remember(job_id, unknown_jobs_)) return false;
  if (IsLostToRestore(loop_.View().state, job_id)) {
    spdlog::warn(
        "job {} was submitted after the backup that was restored: its ranks are left alone, and "
        "its worker keeps its output in DATA_DIR/attempts/{}",
        job_id, job_id);
  } else {
    spdlog::warn("a worker sent telemetry or output of unknown job {}; it is not kept", job_id);
  }
  return false;
}

bool WorkerSessions::AllStored(const Session& session, const v1::AttemptReport& report) {
  if (!report.cleared()) return false;
  return std::all_of(
      report.stream_ends().begin(), report.stream_ends().end(), [&](const v1::StreamEnd& end) {
        return StoredOffset(session.stored, ToStreamKey(end.stream())) >= end.end_offset();
      });
}

bool WorkerSessions::AllStorableStored(const Session& session, const v1::AttemptReport& report) {
  v1::AttemptReport storable = report;
  auto& ends = *storable.mutable_stream_ends();
  ends.erase(std::remove_if(ends.begin(), ends.end(),
                            [&](const v1::StreamEnd& end) {
                              return session.quarantined.contains(ToStreamKey(end.stream()));
                            }),
             ends.end());
  return AllStored(session, storable);
}

bool WorkerSessions::OutputComplete(const JobEntry& entry, const ClusterView& view) const {
  const Timestamp quiet_since = std::max(entry.job.ended_time_ms(), view.observations.since_ms);
  const bool waited_enough = view.now - quiet_since > kDisconnectedNodeMs;
  for (const v1::Attempt& attempt : entry.job.attempts()) {
    for (const std::string& node_id : GangNodes(attempt)) {
      if (!sessions_.contains(node_id) && waited_enough) continue;
      if (!NodeOutputComplete(node_id, {entry.job.id(), attempt.number()}, view)) return false;
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
  return report == observed->second.reports.end() ||
         AllStorableStored(*session->second, report->second);
}

}  // namespace trainyard::controller
