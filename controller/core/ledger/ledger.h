// The time ledger of a job. It divides the job's time by phase and is computed from the job's
// attempts.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

// Returns the job's time by phase. Every moment from submission to the job's end, or to `now`,
// belongs to exactly one phase. The observations of the live attempt must already be merged into
// `job` (time_use.h). If a later attempt repeated a share of an attempt's steps, the same share of
// the earlier attempt's training time counts as redone. Slot time uses the number of slots of each
// attempt.
v1::Ledger LedgerOf(const v1::Job& job, Timestamp now);

// Returns the job's time for reports over many jobs (report.h). For each phase, the sum of the
// spans is the same as in LedgerOf.
//
// Attempts and the gaps between them have their exact times. Within an attempt, only some phases
// have an exact position: the start, the lost steps, and the stall at the end. Lost steps are the
// newest steps; they are unsaved or repeated. The phases between the start and the lost steps have
// a known length but no known position, so they are spread evenly over that time. For attempts that
// are no longer listed, only sums are known.
v1::JobTime JobTimeOf(const v1::Job& job, Timestamp now);

// Returns the step before the first step of the attempt.
int64_t StepBefore(const v1::Attempt& attempt);

// Moves the time of the oldest attempt into job.earlier and removes the attempt, which must have
// ended. The sums of LedgerOf do not change, and later attempts may still repeat steps of the
// removed attempt.
void FoldOldestAttempt(v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_H_
