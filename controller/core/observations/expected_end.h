// Predicts the time at which a job frees its slots.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPECTED_END_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPECTED_END_H_

#include <optional>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the end of the last step of the attempt: the steps that are left times the current pace,
// counted from the newest metrics. A growing batch is taken into account. For a data job, returns
// the end that the program itself predicts. Returns 0 if neither is known. `progress`: that of the
// job.
Timestamp EndOfSteps(const v1::Job& job, const v1::Attempt& attempt,
                     const AttemptObservation& observed, const v1::Progress& progress);

// Returns the expected end of the job's live attempt, at least `now`. This is the earlier of two
// times:
// - The time limit (RemainingTime). Ranks that save at the limit may need up to StopGraceMs more.
// - The end of the last step (EndOfSteps).
// If the attempt was asked to stop, returns the latest end of its grace instead. Returns nullopt if
// neither time is known, or if the job has no live attempt.
std::optional<Timestamp> ExpectedEnd(const JobEntry& entry, const Observations& observations,
                                     Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_EXPECTED_END_H_
