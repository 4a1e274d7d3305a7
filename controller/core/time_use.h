// What the ranks of an attempt have told of their time, put together for the attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_TIME_USE_H_
#define TRAINYARD_CONTROLLER_CORE_TIME_USE_H_

#include "controller/core/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The ranks of a gang go in step, so that what one waits for all wait for: of each figure the
// largest counts, but for init, which is over when the rank that started last has done. A phase
// that goes on counts until now. Values that no clock can give (negative, not a number) are 0.
v1::TimeUse ObservedTimeUse(const AttemptObservation& observed, const v1::Attempt& attempt,
                            Timestamp now);

// Fills last_step and time_use of an attempt that has not ended with what was heard of it. An ended
// one has them from its end, and only its last step may still grow: by what a node that was away
// brings in.
void MergeObserved(int64_t job_id, const Observations& observations, Timestamp now,
                   v1::Attempt& attempt);
// The same for every attempt of the job.
void MergeObserved(const Observations& observations, Timestamp now, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_TIME_USE_H_
