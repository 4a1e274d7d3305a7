// The attached workers: admission, handling of their messages, and commands to them. Loop thread
// only, except OnMessage, OnClosed and CloseAll.
#ifndef TRAINYARD_CONTROLLER_WORKER_SESSIONS_H_
#define TRAINYARD_CONTROLLER_WORKER_SESSIONS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controller/core/commands.h"
#include "controller/ingest.h"
#include "controller/loop.h"
#include "controller/rpc/worker_link.h"

namespace trainyard::controller {

class WorkerSessions final : public WorkerListener {
 public:
  // All references outlive this; the loop does not run yet.
  WorkerSessions(Loop& loop, Ingest& ingest, EventLog& event_log, std::string cluster_id);

  void OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                 ReadPermit permit) override;
  void OnClosed(const std::shared_ptr<WorkerLink>& link) override;

  // Calls `observe` on the loop thread with telemetry that was not received before. Before the
  // loop starts.
  void OnTelemetry(std::function<void(const v1::TelemetryBatch& batch, Timestamp now)> observe) {
    on_telemetry_ = std::move(observe);
  }

  // Ends every stream with this status and refuses new ones with it. Any thread.
  void CloseAll(const absl::Status& status);

  // True when the store holds all output of the job that its nodes can still send.
  bool OutputComplete(const JobEntry& entry, const ClusterView& view) const;

 private:
  // Identity of a command: kind of message, job, attempt, grace in ms.
  using CommandKey = std::tuple<int, int64_t, int64_t, int64_t>;
  using SentTimes = std::map<CommandKey, Timestamp>;

  // An alert of a stream, by its step and code.
  using Alert = std::tuple<StreamKey, int64_t, std::string>;

  // Telemetry that is stored once its checkpoints and alerts are in the event log.
  struct PendingTelemetry {
    v1::TelemetryBatch batch;
    ReadPermit permit;
    int uncommitted = 0;
  };

  struct Session {
    std::shared_ptr<WorkerLink> link;
    std::string node_id;
    std::string incarnation;
    Timestamp opened_ms = 0;
    // Commands may follow once Welcome is out.
    bool welcomed = false;
    // Acknowledged offset of each stream of the attempts that the worker has.
    Ingest::Offsets stored;
    // Streams that cannot be stored because of damage. The worker keeps them; no log reader waits
    // for them.
    std::set<StreamKey> quarantined;
    // In the order of arrival, because a stream's bytes must reach the store in order.
    std::deque<std::shared_ptr<PendingTelemetry>> telemetry;
    // When each command that is due was sent.
    SentTimes sent;
    // Messages that the worker had read at taken_ms, the last time that this number grew or that
    // no message waited for it.
    uint64_t taken = 0;
    Timestamp taken_ms = 0;
  };
  using SessionPtr = std::shared_ptr<Session>;

  void Handle(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
              ReadPermit permit);
  void Attach(const std::shared_ptr<WorkerLink>& link, v1::Hello hello);
  absl::Status CheckAttach(const v1::Hello& hello, Timestamp now);
  void FinishAttach(const SessionPtr& session, const v1::Hello& hello, const ClusterView& view);
  void SendWelcome(const SessionPtr& session, const Ingest::Offsets& offsets);
  void Detach(const SessionPtr& session);
  bool IsCurrent(const Session& session) const;

  void HandleFact(const SessionPtr& session, v1::Fact fact, ReadPermit permit);
  void HandleTelemetry(const SessionPtr& session, v1::TelemetryBatch batch, ReadPermit permit);
  void HandleOutput(const SessionPtr& session, v1::LogChunk chunk, ReadPermit permit);
  void SubmitRecords(const SessionPtr& session, const std::shared_ptr<PendingTelemetry>& pending);
  // Calls `committed` once the record is in the event log, or was refused.
  void SubmitRecord(const SessionPtr& session, const v1::StreamId& stream,
                    const v1::TelemetryRecord& record, std::function<void()> committed);
  void StoreCommitted(const SessionPtr& session);
  void DropKnownAlerts(v1::TelemetryBatch& batch);
  bool KnowsJob(int64_t job_id);
  // Result to acknowledge for data of an unknown job: `end_offset` lets the worker delete the data,
  // DATA_LOSS lets it keep them.
  absl::StatusOr<int64_t> Unkept(int64_t job_id, int64_t end_offset);
  Ingest::Stored AcknowledgeWhenStored(const SessionPtr& session, const v1::StreamId& stream,
                                       ReadPermit permit);
  void Acknowledge(const SessionPtr& session, const v1::StreamId& stream,
                   const absl::StatusOr<int64_t>& offset);

  void RefreshPausedHeartbeats(Timestamp now);
  void DisconnectSlowWorkers(Timestamp now);
  void SendCommands(const ClusterView& view);
  void AddForgetCommands(const ClusterView& view, std::vector<Command>& commands) const;
  bool MayForget(const Session& session, const v1::AttemptReport& report,
                 const ClusterView& view) const;
  static bool AllStored(const Session& session, const v1::AttemptReport& report);
  // The same, without the quarantined streams.
  static bool AllStorableStored(const Session& session, const v1::AttemptReport& report);
  bool NodeOutputComplete(const std::string& node_id, const AttemptKey& attempt,
                          const ClusterView& view) const;

  Loop& loop_;
  Ingest& ingest_;
  EventLog& event_log_;
  const std::string cluster_id_;
  std::function<void(const v1::TelemetryBatch&, Timestamp)> on_telemetry_;

  // The rest: loop thread only.
  absl::Status closed_;
  // By node id; at most one each.
  std::map<std::string, SessionPtr> sessions_;
  std::map<const WorkerLink*, SessionPtr> by_link_;
  // Alerts that are not committed yet, and the work that continues after the commit.
  std::map<Alert, std::vector<std::function<void()>>> alerts_under_way_;
  // Streams that sent telemetry since the start, each with the highest offset received.
  Ingest::Offsets received_until_;
  // Jobs that a worker sent data of and that are not in the state; each is logged once.
  std::set<int64_t> unknown_jobs_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_WORKER_SESSIONS_H_
