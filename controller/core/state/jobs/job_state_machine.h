// The legal state transitions of jobs and attempts. README.md shows the transitions of jobs.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_JOB_STATE_MACHINE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_JOB_STATE_MACHINE_H_

#include <algorithm>
#include <array>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "proto/support/job_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

template <typename State>
struct Transition {
  State from;
  State to;
};

inline constexpr std::array kJobTransitions{
    Transition<v1::JobState>{v1::JOB_STATE_QUEUED, v1::JOB_STATE_STARTING},
    Transition<v1::JobState>{v1::JOB_STATE_QUEUED, v1::JOB_STATE_STOPPED},
    Transition<v1::JobState>{v1::JOB_STATE_QUEUED, v1::JOB_STATE_FAILED},
    // Only for arrays, which end after their elements.
    Transition<v1::JobState>{v1::JOB_STATE_QUEUED, v1::JOB_STATE_SUCCEEDED},
    Transition<v1::JobState>{v1::JOB_STATE_STARTING, v1::JOB_STATE_RUNNING},
    Transition<v1::JobState>{v1::JOB_STATE_STARTING, v1::JOB_STATE_RECOVERING},
    Transition<v1::JobState>{v1::JOB_STATE_STARTING, v1::JOB_STATE_STOPPING},
    Transition<v1::JobState>{v1::JOB_STATE_RUNNING, v1::JOB_STATE_RECOVERING},
    Transition<v1::JobState>{v1::JOB_STATE_RUNNING, v1::JOB_STATE_STOPPING},
    Transition<v1::JobState>{v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED},
    Transition<v1::JobState>{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STARTING},
    Transition<v1::JobState>{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPING},
    Transition<v1::JobState>{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_FAILED},
    Transition<v1::JobState>{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPED},
    Transition<v1::JobState>{v1::JOB_STATE_STOPPING, v1::JOB_STATE_STOPPED},
    Transition<v1::JobState>{v1::JOB_STATE_QUEUED, v1::JOB_STATE_HELD},
    Transition<v1::JobState>{v1::JOB_STATE_QUEUED, v1::JOB_STATE_PAUSED},
    Transition<v1::JobState>{v1::JOB_STATE_STARTING, v1::JOB_STATE_PAUSING},
    Transition<v1::JobState>{v1::JOB_STATE_RUNNING, v1::JOB_STATE_PAUSING},
    Transition<v1::JobState>{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_PAUSING},
    Transition<v1::JobState>{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_PAUSED},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSING, v1::JOB_STATE_PAUSED},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSING, v1::JOB_STATE_RECOVERING},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSING, v1::JOB_STATE_QUEUED},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSING, v1::JOB_STATE_STOPPED},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSING, v1::JOB_STATE_STOPPING},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSING, v1::JOB_STATE_FAILED},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSED, v1::JOB_STATE_QUEUED},
    Transition<v1::JobState>{v1::JOB_STATE_PAUSED, v1::JOB_STATE_STOPPED},
    Transition<v1::JobState>{v1::JOB_STATE_HELD, v1::JOB_STATE_QUEUED},
    Transition<v1::JobState>{v1::JOB_STATE_HELD, v1::JOB_STATE_STOPPED},
    Transition<v1::JobState>{v1::JOB_STATE_HELD, v1::JOB_STATE_FAILED},
};

inline constexpr std::array kAttemptTransitions{
    Transition<v1::AttemptState>{v1::ATTEMPT_STATE_STARTING, v1::ATTEMPT_STATE_RUNNING},
    Transition<v1::AttemptState>{v1::ATTEMPT_STATE_STARTING, v1::ATTEMPT_STATE_STOPPING},
    Transition<v1::AttemptState>{v1::ATTEMPT_STATE_RUNNING, v1::ATTEMPT_STATE_STOPPING},
    Transition<v1::AttemptState>{v1::ATTEMPT_STATE_RUNNING, v1::ATTEMPT_STATE_ENDED},
    Transition<v1::AttemptState>{v1::ATTEMPT_STATE_STOPPING, v1::ATTEMPT_STATE_ENDED},
};

constexpr bool CanMove(v1::JobState from, v1::JobState to) {
  return std::ranges::any_of(kJobTransitions,
                             [=](const auto& edge) { return edge.from == from && edge.to == to; });
}

constexpr bool CanMove(v1::AttemptState from, v1::AttemptState to) {
  return std::ranges::any_of(kAttemptTransitions,
                             [=](const auto& edge) { return edge.from == from && edge.to == to; });
}

// Returns true if the table has no transition from this state.
constexpr bool HasNoWayOut(v1::JobState state) {
  return std::ranges::none_of(kJobTransitions,
                              [=](const auto& edge) { return edge.from == state; });
}

// HasEnded, which clients also use, must agree with the table for every state.
static_assert(std::ranges::all_of(kJobTransitions, [](const auto& edge) {
  return HasEnded(edge.from) == HasNoWayOut(edge.from) && HasEnded(edge.to) == HasNoWayOut(edge.to);
}));
// A recovering job never returns to QUEUED, because it keeps its slots. Only a pause or a yield
// releases the slots. A paused job starts again only through the queue. A stopping job neither
// starts again nor succeeds.
static_assert(!CanMove(v1::JOB_STATE_RECOVERING, v1::JOB_STATE_QUEUED));
static_assert(!CanMove(v1::JOB_STATE_PAUSED, v1::JOB_STATE_STARTING) &&
              !CanMove(v1::JOB_STATE_HELD, v1::JOB_STATE_STARTING));
static_assert(!CanMove(v1::JOB_STATE_STOPPING, v1::JOB_STATE_STARTING) &&
              !CanMove(v1::JOB_STATE_STOPPING, v1::JOB_STATE_SUCCEEDED));

// Only these functions change the state of a job or attempt. A transition that is not in the table
// is a bug, and the process ends.
void MoveJob(v1::JobState to, v1::Job& job);
void MoveAttempt(v1::AttemptState to, v1::Attempt& attempt);

// Marks the live attempt of the job as asked to stop.
void StopAttempt(v1::StopReason reason, Timestamp now, JobEntry& entry, ClusterState& state);

// True for paused and held jobs.
constexpr bool IsPausedOrHeld(v1::JobState state) {
  return state == v1::JOB_STATE_PAUSED || state == v1::JOB_STATE_HELD;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_JOB_STATE_MACHINE_H_
