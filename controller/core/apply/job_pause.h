// Applies pauses to the state (decide/pause.h).
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_JOB_PAUSE_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_JOB_PAUSE_H_

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// These functions apply JobPaused and JobResumed.
void TakePaused(const v1::Event& event, ClusterState& state);
void TakeResumed(const v1::Event& event, ClusterState& state);

// Holds the job if it was submitted with `hold`.
void Hold(const v1::Event& submitted, v1::Job& job);

// Completes a pause after the last rank of the job is gone: frees the job's slots.
void CompletePause(JobEntry& entry, ClusterState& state);

// Ends the pause, if there is one, because the job was resumed, stopped or killed.
void EndPause(Timestamp now, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_JOB_PAUSE_H_
