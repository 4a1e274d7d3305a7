// The only rule for whether a rank or gang has stalled. The evidence about nodes, the ledger's hang
// time and the reason shown to users all follow it.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_

#include <cstdint>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Longest time in milliseconds for which a healthy rank of the attempt trains without progress:
// three slow steps, at least 5 s. A slow step is the larger of the program's timing
// (StepTimes::Slow) and the workers' timing (slow_step_ms).
int64_t LongestPauseMs(const AttemptObservation& attempt);

// True if a pause of the rank can be a stall: a step has been timed, and only steps are expected in
// the rank's phase. Loading, saving and evaluation have no time limit here.
bool CanStall(const AttemptObservation& attempt, const RankObservation& rank);

// True if CanStall is true for all ranks of the gang, and there is at least one.
bool CanStall(const AttemptObservation& attempt);

// Time of the gang's last progress, if the gang can stall and none of its ranks made progress for
// longer than LongestPauseMs before `until`. Otherwise 0.
Timestamp StalledSince(const AttemptObservation& attempt, Timestamp until);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_
