// The one rule by which a rank, or a gang, has stalled. The evidence about nodes, the ledger's hang
// time and the reason that a user reads all follow it.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_

#include <cstdint>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Longest time in milliseconds that a healthy rank of the attempt trains without progress: three
// slow steps, as the program times them (StepTimes::Slow) and as its workers see them pass
// (slow_step_ms), at least 5 s.
int64_t LongestPauseMs(const AttemptObservation& attempt);

// True when a pause of the rank can be a stall: a step was timed, and the rank is in a phase in
// which only steps are expected. A rank that loads, saves or evaluates takes as long as it takes.
bool CanStall(const AttemptObservation& attempt, const RankObservation& rank);

// The same of a gang: true when it holds for all of its ranks, and there is one.
bool CanStall(const AttemptObservation& attempt);

// Time of the gang's last progress, if it can stall and no rank of it has made any for longer than
// LongestPauseMs until `until`; else 0.
Timestamp StalledSince(const AttemptObservation& attempt, Timestamp until);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_
