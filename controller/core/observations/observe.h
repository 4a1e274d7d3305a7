// Updates the observations when a worker message arrives or the clock changes.
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

// Records that a worker attached.
void ObserveAttached(const v1::Hello& hello, Timestamp now, const ClusterState& state,
                     Observations& observations);
// Called after a Welcome was sent to the worker. From then on, commands may follow.
void ObserveWelcomed(const std::string& node_id, Observations& observations);
// Records that the worker's stream ended.
void ObserveDetached(const std::string& node_id, Observations& observations);
// Records a heartbeat and its reports. If the worker's main thread is blocked, updates only the
// node's trouble, because the message does not count as a heartbeat.
void ObserveHeartbeat(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
                      const ClusterState& state, Observations& observations);

// Called after the attempt's start order was passed to the node's stream.
void ObserveStartSent(const std::string& node_id, const AttemptKey& attempt,
                      Observations& observations);

// Called while the controller does not read the node's messages (backpressure). Backpressure counts
// as a heartbeat. It also restarts the steady-progress window of the node's ranks, because their
// missing progress proves nothing.
void ObserveUnread(const std::string& node_id, Timestamp now, const ClusterState& state,
                   Observations& observations);

// Shifts heartbeat and progress times by `gap_ms`, the length of a stall of the controller that
// ended at `now`. Because of the shift, the stall counts neither as time without a heartbeat nor as
// time without progress. No time is shifted beyond `now`.
void ShiftHeartbeats(int64_t gap_ms, Timestamp now, Observations& observations);

// Shifts every time that was measured by the controller's clock, after this clock was set by
// `step_ms`.
void ShiftTimes(int64_t step_ms, Observations& observations);

// Removes data of jobs that are no longer in the state, and of nodes that are neither attached nor
// in the state.
void ForgetOld(const ClusterState& state, Observations& observations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_OBSERVE_H_
