// Time use of an attempt, combined from the reports of its ranks.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Time use of the gang. Its ranks run in lockstep, so all wait for the slowest: each phase counts
// with its largest value among the ranks. Exception: init counts with its smallest value, because
// the rank that started last ends it. Ranks brought in by a heal are left out. A phase in progress
// counts until now. Impossible values (negative, not a number) count as 0.
v1::TimeUse ObservedTimeUse(const AttemptObservation& observed, const v1::Attempt& attempt,
                            Timestamp now);

// Fills last_step and time_use of an attempt that has not ended. An ended attempt already has both;
// only its last step may still increase, through reports of a node that was disconnected.
void MergeObserved(int64_t job_id, const Observations& observations, Timestamp now,
                   v1::Attempt& attempt);
// Calls MergeObserved for every attempt of the job.
void MergeObserved(const Observations& observations, Timestamp now, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_
