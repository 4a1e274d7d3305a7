// Jobs that users keep from running: paused after their first start, or held before it. They hold
// no slots and stand in no queue; their name and their checkpoint directory stay theirs.
#ifndef TRAINYARD_CONTROLLER_CORE_PAUSE_H_
#define TRAINYARD_CONTROLLER_CORE_PAUSE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// True for paused and held jobs.
constexpr bool IsSetAside(v1::JobState state) {
  return state == v1::JOB_STATE_PAUSED || state == v1::JOB_STATE_HELD;
}

// NOT_FOUND; FAILED_PRECONDITION: the job has ended, is being stopped, or has finished. No events
// for one that is paused, or being paused, already.
absl::StatusOr<std::vector<v1::Event>> DecidePause(const ClusterState& state,
                                                   const v1::PauseJobRequest& request,
                                                   Timestamp now);
// NOT_FOUND; FAILED_PRECONDITION: the job is neither paused nor held.
absl::StatusOr<std::vector<v1::Event>> DecideResume(const ClusterState& state,
                                                    const v1::ResumeJobRequest& request,
                                                    Timestamp now);

// Effects of JobPaused and JobResumed.
void TakePaused(const v1::Event& event, ClusterState& state);
void TakeResumed(const v1::Event& event, ClusterState& state);

// A job that was submitted to be held.
void Hold(const v1::Event& submitted, v1::Job& job);

// The last rank of a job that is being paused has left: its slots are free.
void CompletePause(JobEntry& entry, ClusterState& state);

// The pause, if there is one, is over: resumed, stopped or killed.
void EndPause(Timestamp now, v1::Job& job);

// Time that the job was paused since `begin`, the end of its newest attempt or its submission.
int64_t PausedMs(const v1::Job& job, Timestamp begin, Timestamp now);

// "is paused by user ada and holds no slots; it goes on from the checkpoint of step 20 when it is
// resumed". Of a job that is paused or held.
std::string PauseText(const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_PAUSE_H_
