// Updates of the observations: each message of a worker, and each change of the clock.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_H_

#include <cstdint>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Records that a worker attached, detached, or sent a heartbeat.
void ObserveAttached(const v1::Hello& hello, Timestamp now, const ClusterState& state,
                     Observations& observations);
// Records that commands may follow: the worker got its Welcome.
void ObserveWelcomed(const std::string& node_id, Observations& observations);
void ObserveDetached(const std::string& node_id, Observations& observations);
void ObserveHeartbeat(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
                      const ClusterState& state, Observations& observations);

// Records that the order to start the attempt was handed to the node's stream.
void ObserveStartSent(const std::string& node_id, const AttemptKey& attempt,
                      Observations& observations);

// Records that the controller does not read the node's messages (backpressure). That counts as a
// heartbeat, and missing progress of the node's ranks is no evidence against them.
void ObserveUnread(const std::string& node_id, Timestamp now, const ClusterState& state,
                   Observations& observations);

// Records progress from a batch of telemetry of one rank.
void ObserveTelemetry(const v1::TelemetryBatch& batch, const ClusterState& state,
                      Observations& observations);

// Removes metrics from a batch that ObserveTelemetry has seen, unless it is of the reporting rank:
// a curve never mixes values of several ranks for the same step.
void KeepReportingRanksMetrics(const ClusterState& state, const Observations& observations,
                               v1::TelemetryBatch& batch);

// Shifts heartbeat and progress times by `gap_ms`, for which the controller itself stalled until
// now. The gap then counts neither as time without a heartbeat nor as time without progress. Times
// taken since then stay as they are.
void ShiftHeartbeats(int64_t gap_ms, Timestamp now, Observations& observations);

// The controller's clock was set by `step_ms`: moves every time by its clock.
void ShiftTimes(int64_t step_ms, Observations& observations);

// Removes progress of jobs, and nodes, that are not in the state any more.
void ForgetOld(const ClusterState& state, Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_H_
