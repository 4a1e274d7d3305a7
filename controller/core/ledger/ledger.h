// Time ledger of a job: its time by phase, computed from its attempts.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

// Every moment from submit to the end, or to `now`, in exactly one phase. `job` must have the
// observations of its live attempt merged in (time_use.h). Steps that a newer attempt trained again
// count as recompute, in proportion to the steps of their attempt. Slots are those that each
// attempt had.
v1::Ledger LedgerOf(const v1::Job& job, Timestamp now);

// The same time for reports over many jobs (report.h): its spans add up to the same phases. Of
// attempts that are no longer listed only sums are known.
v1::JobTime JobTimeOf(const v1::Job& job, Timestamp now);

// Steps that the attempt had when it began.
int64_t StepBefore(const v1::Attempt& attempt);

// Moves the time of the oldest attempt, which has ended, into job.earlier, and removes the attempt.
// The sums of LedgerOf stay the same, also when later attempts repeat steps that were moved.
void FoldOldestAttempt(v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_
