// Decides whether a rank or gang has stalled. The evidence about nodes, the stalled time in the
// ledger and the reason shown to users all use this rule.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the longest time, in milliseconds, for which a healthy rank of the attempt trains without
// progress. This is three times the slow step, but at least 5 s. The slow step is the larger of the
// program's timing (StepTimes::Slow) and the workers' timing (slow_step_ms).
int64_t LongestPauseMs(const AttemptObservation& attempt);

// Returns true if a pause of the rank can be a stall. A stall requires that a step has been timed
// and that the rank only trains steps in its phase. Loading, saving and evaluation have no time
// limit here.
bool CanStall(const AttemptObservation& attempt, const RankObservation& rank);

// Returns true if the gang has at least one rank and CanStall is true for all of its ranks.
bool CanStall(const AttemptObservation& attempt);

// Returns the time of the gang's last progress if the gang has stalled at `until`. The gang has
// stalled if it can stall and no rank made progress in the LongestPauseMs before `until`. Otherwise
// returns 0.
Timestamp StalledSince(const AttemptObservation& attempt, Timestamp until);

// Returns true if reports about all running ranks are arriving. While reports are missing, the gang
// may be training.
bool AllReport(const AttemptObservation& attempt, Timestamp now);

// Returns the newest stall if it has ended and the attempt's time use does not contain it yet. A
// stall ends at the latest when the attempt is asked to stop.
std::optional<Stall> UnrecordedStall(const AttemptObservation& observed,
                                     const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_STALL_H_
