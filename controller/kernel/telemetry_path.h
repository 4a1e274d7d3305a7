// Telemetry and output of the attached workers on their way to the stores: fence, facts before
// bytes, order, and acknowledgement of what is stored.
#ifndef TRAINYARD_CONTROLLER_KERNEL_TELEMETRY_PATH_H_
#define TRAINYARD_CONTROLLER_KERNEL_TELEMETRY_PATH_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/stream_fence.h"
#include "controller/core/support/attempt_key.h"
#include "controller/kernel/durable_records.h"
#include "controller/kernel/known_alerts.h"
#include "controller/kernel/sessions.h"
#include "controller/kernel/worker_actions.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class TelemetryPath {
 public:
  // Receives telemetry that was not received before, after it was observed.
  using Observe = std::function<void(const v1::TelemetryBatch& batch, Timestamp now)>;

  // The references outlive this.
  TelemetryPath(const ClusterState& state, Observations& observations)
      : state_(state), observations_(observations), records_(state, observations) {}

  void SetObserver(Observe observe) { observe_ = std::move(observe); }

  KnownAlerts& known_alerts() { return known_alerts_; }

  // Observes the batch, submits its checkpoints, alerts and losses to which the loss guard objects,
  // and stores it once they are committed.
  void AddTelemetry(Session& session, v1::TelemetryBatch batch, Permit permit, Timestamp now,
                    WorkerActions& actions);
  void AddOutput(Session& session, v1::LogChunk chunk, Permit permit, WorkerActions& actions);
  // The request about a record was decided. The session may have ended since.
  void Answered(const RequestTag& tag, const absl::Status& answer, WorkerActions& actions);
  // Submits held records of the attempt ahead of the exit of one of its ranks.
  void BeforeExit(const AttemptKey& attempt, WorkerActions& actions);
  // Submits held records, and reports about those that were left out.
  void BeforeTick(Timestamp now, WorkerActions& actions);
  // The store has the stream's bytes up to `stored`, or cannot store them.
  static void Acknowledge(Session& session, const v1::StreamId& stream,
                          const absl::StatusOr<int64_t>& stored, WorkerActions& actions);

 private:
  // Telemetry that is stored once its checkpoints and alerts are in the event log.
  struct PendingBatch {
    uint64_t number = 0;
    v1::TelemetryBatch batch;
    Permit permit;
    int uncommitted = 0;
  };
  // True when the stream's bytes may be stored; else the worker is answered.
  bool Admit(Session& session, const v1::StreamId& stream, int64_t end_offset,
             WorkerActions& actions);
  StreamFence Fence(const Session& session, const v1::StreamId& stream) const;
  void WarnOnce(StreamFence fence, const std::string& node_id, const v1::StreamId& stream,
                WorkerActions& actions);
  void AddRecords(const BatchId& batch, std::vector<ReceiveTelemetry> requests, Timestamp now,
                  WorkerActions& actions);
  void CarryOut(DurableRecords::Changes changes, WorkerActions& actions);
  void StoreCommitted(const BatchId& batch, WorkerActions& actions);

  const ClusterState& state_;
  Observations& observations_;
  KnownAlerts known_alerts_;
  Observe observe_;
  DurableRecords records_;
  // By link and stream, in the order of arrival: bytes of a stream must reach the store in order,
  // and a stream that waits delays no other one. What was received before a link ended is stored
  // too.
  std::map<std::pair<LinkId, StreamKey>, std::deque<PendingBatch>> pending_;
  uint64_t last_batch_ = 0;
  // Jobs and nodes about whose streams a line was logged.
  std::set<std::pair<int64_t, std::string>> warned_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_TELEMETRY_PATH_H_
