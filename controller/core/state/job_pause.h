// Effects of pauses on the state (decide/pause.h).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOB_PAUSE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOB_PAUSE_H_

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// True while the ranks of a job that is being paused are still exiting.
bool IsPausing(const v1::Job& job);

// Effects of JobPaused and JobResumed.
void TakePaused(const v1::Event& event, ClusterState& state);
void TakeResumed(const v1::Event& event, ClusterState& state);

// Holds a job submitted with `hold`.
void Hold(const v1::Event& submitted, v1::Job& job);

// Completes a pause once no rank of the job is left: frees its slots.
void CompletePause(JobEntry& entry, ClusterState& state);

// Ends the pause, if there is one: the job was resumed, stopped or killed.
void EndPause(Timestamp now, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOB_PAUSE_H_
