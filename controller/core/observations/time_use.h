// Time use of an attempt, put together from the reports of its ranks.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Time use of the gang. Its ranks run in lockstep, so all wait for the slowest: of each phase the
// largest value counts. Only of init the smallest counts, since init is over when the rank that
// started last is done with it. An open phase counts until now. Values that no clock can give
// (negative, not a number) are 0.
v1::TimeUse ObservedTimeUse(const AttemptObservation& observed, const v1::Attempt& attempt,
                            Timestamp now);

// Fills last_step and time_use of an attempt that has not ended from its observations. An ended
// attempt has both from its end, and only its last step may still grow: by reports of a node that
// was disconnected.
void MergeObserved(int64_t job_id, const Observations& observations, Timestamp now,
                   v1::Attempt& attempt);
// Merges the observations into every attempt of the job.
void MergeObserved(const Observations& observations, Timestamp now, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_TIME_USE_H_
