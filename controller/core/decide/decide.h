// Decides which events a request causes.
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

// Returns the events that the request causes, or an error for its sender. Does not change the
// state. A repeated request (same request_id, or a fact already in the log) returns neither events
// nor an error.
// Errors of each request:
// - JobSubmission: ALREADY_EXISTS, FAILED_PRECONDITION (the message names the largest shape that
//   would fit), RESOURCE_EXHAUSTED (kMaxOpenJobs).
// - StopJob: INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION (the job has ended).
// - PauseJob, ResumeJob: see pause.h. ExtendJob: see extension.h. WriteNote, DeleteNote: see
// notes.h. OpenExecSession: see exec.h.
// - DeleteJob: see deletion.h. RemoveNode: see node_removal.h.
// - CordonNode, ReleaseNode: NOT_FOUND, INVALID_ARGUMENT (several nodes have the name, or a text is
//   too long).
// - AttachWorker: INVALID_ARGUMENT, PERMISSION_DENIED (the node id is bound to another identity),
//   UNAVAILABLE (see decide_worker.h).
// - ReceiveFact: FAILED_PRECONDITION (the node never attached), INVALID_ARGUMENT, OUT_OF_RANGE (the
//   log lacks facts before this one; the worker must resend them).
// - ReportLostEvents, ReceiveTelemetry, ReportLeftOut, ChooseLayout: none.
absl::StatusOr<std::vector<v1::Event>> Decide(const ClusterState& state, const Request& request,
                                              const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DECIDE_H_
