// Decisions on requests: the events that a request causes now.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the events that the request causes, or an error for its sender; changes nothing.
// A repeated request (same request_id, fact already in the log) returns no events and is no error.
// SubmitJob: INVALID_ARGUMENT, ALREADY_EXISTS, FAILED_PRECONDITION (message names the largest shape
// that would fit), RESOURCE_EXHAUSTED (kMaxOpenJobs). StopJob: NOT_FOUND, FAILED_PRECONDITION.
// PauseJob, ResumeJob: pause.h. DeleteJob: deletion.h. AttachWorker: INVALID_ARGUMENT,
// PERMISSION_DENIED (the node id is bound to another secret). CordonNode: NOT_FOUND,
// INVALID_ARGUMENT (several nodes have that name, or a text is too long). RemoveNode:
// node_removal.h. ReleaseNode: as CordonNode. ReceiveFact: FAILED_PRECONDITION (the node never
// attached), INVALID_ARGUMENT, OUT_OF_RANGE (facts between the last one in the log and this one are
// missing: the worker must send them again).
absl::StatusOr<std::vector<v1::Event>> Decide(const ClusterState& state, const Request& request,
                                              const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_H_
