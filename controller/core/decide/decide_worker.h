// Decisions on messages from workers; part of Decide.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_WORKER_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_WORKER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the events for an attaching worker:
// - NodeJoined if the node is new, lost, or changed.
// - AttemptFailed for attempts whose data the worker has lost.
// - NodeLost for nodes that the new node replaces.
// - NodeCordoned and JobPaused if the worker runs attempts that the log has lost (lost_history.h).
// Errors: INVALID_ARGUMENT, PERMISSION_DENIED. UNAVAILABLE: the worker knows of events that the log
// has lost, and this loss is not recorded yet.
absl::StatusOr<std::vector<v1::Event>> DecideAttach(const ClusterState& state,
                                                    const AttachWorker& request,
                                                    const CoreOptions& options, Timestamp now);

// Returns the fact's event and FactsReceived, or no events if the log already has the fact. Errors:
// FAILED_PRECONDITION, INVALID_ARGUMENT, OUT_OF_RANGE.
absl::StatusOr<std::vector<v1::Event>> DecideFact(const ClusterState& state,
                                                  const ReceiveFact& request, Timestamp now);

// Returns the events for checkpoints, alerts and losses of known attempts. Other records cause no
// events.
std::vector<v1::Event> DecideTelemetry(const ClusterState& state, const ReceiveTelemetry& request,
                                       Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_WORKER_H_
