// Passes telemetry and output from the attached workers to the stores: fences streams, commits
// facts before their bytes are stored, keeps the order, and acknowledges stored data.
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
#include "controller/core/state/attempts/stream_fence.h"
#include "controller/core/state/cluster_state.h"
#include "controller/kernel/durable_records.h"
#include "controller/kernel/known_alerts.h"
#include "controller/kernel/sessions.h"
#include "controller/kernel/worker_actions.h"
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class TelemetryPath {
 public:
  // Called with each batch of new telemetry, after it was added to the observations.
  using Observe = std::function<void(const v1::TelemetryBatch& batch, Timestamp now)>;

  // The references must outlive this object.
  TelemetryPath(const ClusterState& state, Observations& observations)
      : state_(state), observations_(observations), records_(state, observations) {}

  void SetObserver(Observe observe) { observe_ = std::move(observe); }

  KnownAlerts& known_alerts() { return known_alerts_; }

  // Observes the batch. Submits its checkpoints, its alerts, and its losses that violate the rules
  // of the loss guard. After these are committed, stores the batch.
  void AddTelemetry(Session& session, v1::TelemetryBatch batch, Permit permit, Timestamp now,
                    WorkerActions& actions);
  void AddOutput(Session& session, v1::LogChunk chunk, Permit permit, WorkerActions& actions);
  // Handles the answer to a record's request. The session may have ended in the meantime.
  void Answered(const RequestTag& tag, const absl::Status& answer, WorkerActions& actions);
  // Submits the attempt's held records. Call before a rank's exit is handled.
  void BeforeExit(const AttemptKey& attempt, WorkerActions& actions);
  // Submits held records that the budget allows, and reports the number of left-out
  // records.
  void BeforeTick(Timestamp now, WorkerActions& actions);
  // Acknowledges the stream's bytes up to `stored`. If `stored` is an error, the acknowledgement
  // states that the bytes cannot be stored.
  static void Acknowledge(Session& session, const v1::StreamId& stream,
                          const absl::StatusOr<int64_t>& stored, WorkerActions& actions);

 private:
  // Telemetry that waits until its checkpoints and alerts are in the event log.
  struct PendingBatch {
    uint64_t number = 0;
    v1::TelemetryBatch batch;
    Permit permit;
    int uncommitted = 0;
  };
  // Returns true if the stream's bytes may be stored. If not, answers the worker.
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
  // Waiting batches by link and stream, in order of arrival. Bytes of one stream must be stored in
  // order, but a waiting stream must not delay others. Data received before a link ended is stored
  // as well.
  std::map<std::pair<LinkId, StreamKey>, std::deque<PendingBatch>> pending_;
  uint64_t last_batch_ = 0;
  // The pairs of job and node whose streams have already caused a warning in the log.
  std::set<std::pair<int64_t, std::string>> warned_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_TELEMETRY_PATH_H_
