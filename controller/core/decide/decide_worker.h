// Decisions on messages of workers: the parts of Decide that concern workers.
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

// NodeJoined when the node is new, lost, or has changed; AttemptFailed for attempts whose data its
// worker has lost; NodeCordoned and JobPaused when it runs attempts that the log has lost
// (lost_history.h). INVALID_ARGUMENT, PERMISSION_DENIED; UNAVAILABLE: the worker has seen events
// that the log has lost, and the loss is not recorded yet.
absl::StatusOr<std::vector<v1::Event>> DecideAttach(const ClusterState& state,
                                                    const AttachWorker& request,
                                                    const CoreOptions& options, Timestamp now);

// The event of the fact and FactsReceived; nothing when the fact is in the log already.
// FAILED_PRECONDITION, INVALID_ARGUMENT, OUT_OF_RANGE.
absl::StatusOr<std::vector<v1::Event>> DecideFact(const ClusterState& state,
                                                  const ReceiveFact& request, Timestamp now);

// Checkpoints and alerts of known attempts; nothing for other records.
std::vector<v1::Event> DecideTelemetry(const ClusterState& state, const ReceiveTelemetry& request,
                                       Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_WORKER_H_
