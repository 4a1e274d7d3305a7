// Applies users' notes to the state (decide/notes.h).
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_JOB_NOTES_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_JOB_NOTES_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies NoteWritten and NoteDeleted.
void ApplyToNotes(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_JOB_NOTES_H_
