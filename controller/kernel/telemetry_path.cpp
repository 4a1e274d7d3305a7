#include "controller/kernel/telemetry_path.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "controller/core/verdict/loss_guard.h"

namespace trainyard::controller {
namespace {

// The maximum number of remembered warnings. At the maximum, all warnings are forgotten, so a
// warning may be logged again.
constexpr std::size_t kMaxWarnings = 100'000;

std::string NameOf(const v1::StreamId& stream) {
  return absl::StrCat("job ", stream.job_id(), " attempt ", stream.attempt(), " rank ",
                      stream.rank());
}

bool IsFact(const v1::TelemetryRecord& record) {
  return record.has_checkpoint() || record.has_alert() || record.has_environment();
}

// Returns the facts of the batch: its checkpoints, alerts and software reports. Like losses that
// violate the rules of the loss guard, they must be in the event log before their bytes are
// acknowledged.
std::vector<ReceiveTelemetry> FactsOf(const v1::TelemetryBatch& batch, const std::string& node_id) {
  const v1::StreamId& stream = batch.stream();
  std::vector<ReceiveTelemetry> facts;
  for (const v1::TelemetryRecord& record : batch.records()) {
    if (!IsFact(record)) continue;
    facts.push_back({stream.job_id(), stream.attempt(), stream.rank(), record, node_id});
  }
  return facts;
}

}  // namespace

void TelemetryPath::AddTelemetry(Session& session, v1::TelemetryBatch batch, Permit permit,
                                 Timestamp now, WorkerActions& actions) {
  if (!Admit(session, batch.stream(), batch.end_offset(), actions)) return;
  if (batch.bad_lines() > 0) {
    actions.emplace_back(Warning(absl::StrCat(NameOf(batch.stream()), ": ", batch.bad_lines(),
                                              " telemetry lines could not be read")));
  }
  std::vector<ReceiveTelemetry> losses;
  if (batch.end_offset() > StoredOffset(session.stored, ToStreamKey(batch.stream()))) {
    ObserveTelemetry(batch, state_, observations_);
    KeepReportingRanksMetrics(state_, observations_, batch);
    losses = WatchLosses(state_, session.node_id, batch, observations_);
    if (observe_) observe_(batch, now);
  }
  known_alerts_.Drop(batch);
  std::vector<ReceiveTelemetry> facts = FactsOf(batch, session.node_id);
  std::ranges::move(losses, std::back_inserter(facts));
  const BatchId id{session.link, ToStreamKey(batch.stream()), ++last_batch_};
  if (facts.empty() && !pending_.contains({id.link, id.stream})) {
    actions.emplace_back(StoreTelemetry{session.link, std::move(batch), std::move(permit)});
    return;
  }
  pending_[{id.link, id.stream}].emplace_back(
      PendingBatch{id.number, std::move(batch), std::move(permit), 0});
  AddRecords(id, std::move(facts), now, actions);
}

void TelemetryPath::AddOutput(Session& session, v1::LogChunk chunk, Permit permit,
                              WorkerActions& actions) {
  const int64_t end = chunk.begin_offset() + static_cast<int64_t>(chunk.data().size());
  if (!Admit(session, chunk.stream(), end, actions)) return;
  actions.emplace_back(StoreOutput{session.link, std::move(chunk), std::move(permit)});
}

// Returns true if the stream is accepted. Acknowledges all bytes of an unknown job, so that the
// worker deletes them. If the stream is refused for another reason, its bytes stay on the worker.
bool TelemetryPath::Admit(Session& session, const v1::StreamId& stream, int64_t end_offset,
                          WorkerActions& actions) {
  const StreamFence fence = Fence(session, stream);
  if (fence == StreamFence::kAccepted) return true;
  WarnOnce(fence, session.node_id, stream, actions);
  if (fence == StreamFence::kUnknownJob) {
    Acknowledge(session, stream, end_offset, actions);
  } else {
    Acknowledge(session, stream, absl::DataLossError("not stored"), actions);
  }
  return false;
}

// session.archived covers all archived jobs of the worker. The map was read before the Welcome, for
// the attempts in the worker's Hello. Attempts that started later are in the state.
StreamFence TelemetryPath::Fence(const Session& session, const v1::StreamId& stream) const {
  const StreamFence fence = FenceStream(state_, session.node_id, stream);
  if (fence != StreamFence::kArchived) return fence;
  const auto archived = session.archived.find(stream.job_id());
  if (archived == session.archived.end()) return StreamFence::kArchived;
  if (!archived->second.has_value()) return StreamFence::kUnknownJob;
  return FenceStreamOf(*archived->second, state_, session.node_id, stream);
}

void TelemetryPath::WarnOnce(StreamFence fence, const std::string& node_id,
                             const v1::StreamId& stream, WorkerActions& actions) {
  if (warned_.size() >= kMaxWarnings) warned_.clear();
  if (!warned_.emplace(stream.job_id(), node_id).second) return;
  if (fence == StreamFence::kLostToRestore) {
    actions.emplace_back(
        Warning(absl::StrCat("job ", stream.job_id(),
                             " is not in the event log, which was restored from a backup or has ",
                             "lost events. The ranks of this job continue unmanaged, and the "
                             "worker keeps their output in ",
                             "DATA_DIR/attempts/", stream.job_id())));
  } else if (fence == StreamFence::kUnknownJob) {
    actions.emplace_back(
        Warning(absl::StrCat("a worker sent telemetry or output of job ", stream.job_id(),
                             ", which the controller does not know; these data are dropped")));
  } else if (fence == StreamFence::kArchived) {
    actions.emplace_back(Warning(absl::StrCat(
        "the record of archived job ", stream.job_id(), " could not be read when worker ", node_id,
        " attached, so the worker keeps the output of this job until the worker attaches again")));
  } else {
    actions.emplace_back(Error(absl::StrCat(
        "node ", NodeName(state_, node_id), " sent telemetry or output of ", NameOf(stream),
        ", which was not placed on this node; these data are dropped. Check whether the data "
        "directory of this worker was copied from another node")));
  }
}

void TelemetryPath::AddRecords(const BatchId& batch, std::vector<ReceiveTelemetry> requests,
                               Timestamp now, WorkerActions& actions) {
  pending_.at({batch.link, batch.stream}).back().uncommitted = static_cast<int>(requests.size());
  DurableRecords::Changes changes;
  for (ReceiveTelemetry& request : requests) {
    records_.Add(batch, std::move(request), now, changes);
  }
  CarryOut(std::move(changes), actions);
  StoreCommitted(batch, actions);
}

void TelemetryPath::CarryOut(DurableRecords::Changes changes, WorkerActions& actions) {
  for (auto& [number, request] : changes.submitted) {
    actions.emplace_back(
        SubmitRequest{std::move(request), {RequestTag::Kind::kRecord, 0, number}, nullptr});
  }
  for (const BatchId& batch : changes.done) {
    std::deque<PendingBatch>& batches = pending_.at({batch.link, batch.stream});
    const auto found = std::lower_bound(
        batches.begin(), batches.end(), batch.number,
        [](const PendingBatch& pending, uint64_t number) { return pending.number < number; });
    --found->uncommitted;
    StoreCommitted(batch, actions);
  }
}

void TelemetryPath::Answered(const RequestTag& tag, const absl::Status& answer,
                             WorkerActions& actions) {
  if (!answer.ok()) {
    actions.emplace_back(Warning(absl::StrCat("telemetry refused: ", answer.ToString())));
  }
  DurableRecords::Changes changes;
  const std::optional<AlertKey> alert = records_.Answered(tag.number, changes);
  if (alert.has_value() && answer.ok()) known_alerts_.Add(*alert);
  CarryOut(std::move(changes), actions);
}

void TelemetryPath::BeforeExit(const AttemptKey& attempt, WorkerActions& actions) {
  DurableRecords::Changes changes;
  records_.SubmitHeld(attempt, changes);
  CarryOut(std::move(changes), actions);
}

void TelemetryPath::BeforeTick(Timestamp now, WorkerActions& actions) {
  DurableRecords::Changes changes;
  records_.SubmitWithinBudget(now, changes);
  CarryOut(std::move(changes), actions);
  for (ReportLeftOut& report : records_.ReportsDue(now)) {
    actions.emplace_back(SubmitRequest{report, {RequestTag::Kind::kReport, 0, 0}, nullptr});
  }
}

// Stores the leading batches of the stream's queue whose records are all committed.
void TelemetryPath::StoreCommitted(const BatchId& batch, WorkerActions& actions) {
  const auto batches = pending_.find({batch.link, batch.stream});
  if (batches == pending_.end()) return;
  while (!batches->second.empty() && batches->second.front().uncommitted == 0) {
    PendingBatch& next = batches->second.front();
    actions.emplace_back(StoreTelemetry{batch.link, std::move(next.batch), std::move(next.permit)});
    batches->second.pop_front();
  }
  if (batches->second.empty()) pending_.erase(batches);
}

void TelemetryPath::Acknowledge(Session& session, const v1::StreamId& stream,
                                const absl::StatusOr<int64_t>& stored, WorkerActions& actions) {
  SendMessage send{session.link, {}};
  v1::StreamAcknowledged& acknowledged = *send.message.mutable_stream_acknowledged();
  *acknowledged.mutable_stream() = stream;
  const StreamKey key = ToStreamKey(stream);
  if (absl::IsDataLoss(stored.status())) {
    if (!session.quarantined.insert(key).second) return;
    acknowledged.set_offset(StoredOffset(session.stored, key));
    acknowledged.set_quarantined(true);
    actions.emplace_back(std::move(send));
    return;
  }
  if (!stored.ok()) {
    actions.emplace_back(
        Error(absl::StrCat("worker ", session.node_id, ": ", stored.status().ToString())));
    actions.emplace_back(EndLink{session.link, stored.status()});
    return;
  }
  int64_t& known = session.stored[key];
  known = std::max(known, *stored);
  acknowledged.set_offset(known);
  actions.emplace_back(std::move(send));
}

}  // namespace trainyard::controller
