// Computes the time use of an attempt from the reports of its ranks.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_

#include <cstdint>
#include <vector>

#include "controller/core/observations/lost_periods.h"
#include "controller/core/observations/observations.h"
#include "controller/core/state/attempts/lost_training.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the time use of the gang.
// - The ranks run in lockstep and wait for the slowest rank, so the time of a phase is its
//   largest value among the ranks.
// - For init, the time is the smallest value: the phase ends when the last rank has started.
// - Ranks that a heal added are not counted.
// - A phase in progress counts up to now.
// - Impossible values (negative, not a number) count as 0.
// - Stalls that have ended come from the attempt's recorded time use and from the newest report.
// - Training time that a slow or diverging run lost is the recorded time.
v1::TimeUse ObservedTimeUse(const AttemptObservation& observed, const v1::Attempt& attempt,
                            Timestamp now);

// Returns the lost training time that the attempt's time use does not contain yet, at most one
// entry for each phase.
std::vector<LostTraining> UnrecordedLosses(int64_t job_id, const Observations& observations,
                                           const v1::Attempt& attempt, LostPeriods::Scope scope);

// Sets last_step and time_use of a live attempt of `job`. An ended attempt already has both. Only
// the attempt's last step may still increase, when reports of a disconnected node arrive.
void MergeObserved(const v1::Job& job, const Observations& observations, Timestamp now,
                   v1::Attempt& attempt);
// Calls the function above for every attempt of `copy`, which is a copy of `job` or of a part of
// `job`.
void MergeObserved(const v1::Job& job, const Observations& observations, Timestamp now,
                   v1::Job& copy);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_
