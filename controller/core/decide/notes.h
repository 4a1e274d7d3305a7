// Users' notes on steps of jobs.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_NOTES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_NOTES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Returns no events if the user has already written the same text on this step, so that a repeated
// request adds no second note. `request.step` must be set. Errors: NOT_FOUND, INVALID_ARGUMENT.
// FAILED_PRECONDITION: the job has kMaxNotesOfJob notes.
absl::StatusOr<std::vector<v1::Event>> DecideNoteWrite(const ClusterState& state,
                                                       const v1::WriteNoteRequest& request,
                                                       const Principal& principal, Timestamp now);

// Errors: NOT_FOUND, INVALID_ARGUMENT. PERMISSION_DENIED: another user wrote the note.
absl::StatusOr<std::vector<v1::Event>> DecideNoteDeletion(const ClusterState& state,
                                                          const v1::DeleteNoteRequest& request,
                                                          const Principal& principal,
                                                          Timestamp now);

// Returns the FAILED_PRECONDITION error for a change of the notes of an archived job.
absl::Status NotesAreFinal(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_NOTES_H_
