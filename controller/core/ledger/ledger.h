// Time ledger of a job: its time by phase, computed from its attempts.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

// The job's time by phase: every moment from submission to the job's end, or to `now`, is in
// exactly one phase. The observations of the live attempt must be merged into `job` (time_use.h).
// Steps that a later attempt trained again count as recompute, in proportion to the steps of their
// attempt. Slot time uses the slots that each attempt had.
v1::Ledger LedgerOf(const v1::Job& job, Timestamp now);

// The job's time for reports over many jobs (report.h). Its spans add up to the same phases as in
// LedgerOf. Only sums are known for attempts that are no longer listed.
v1::JobTime JobTimeOf(const v1::Job& job, Timestamp now);

// The step before the attempt's first one.
int64_t StepBefore(const v1::Attempt& attempt);

// Moves the time of the oldest attempt, which must have ended, into job.earlier, and removes the
// attempt. The sums of LedgerOf stay the same, even if later attempts repeat steps of the moved
// one.
void FoldOldestAttempt(v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_
