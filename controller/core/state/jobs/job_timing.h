// Waiting times and time limits of one job.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_JOB_TIMING_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_JOB_TIMING_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns true if the job's backoff is over. The backoff begins at the end of the newest attempt.
bool IsDue(const JobEntry& entry, Timestamp now);

// Returns the time since which the job waits for slots: since its newest attempt ended, or since it
// was submitted. Time in which it was held or paused, or waited for other jobs, does not count.
Timestamp QueuedSince(const v1::Job& job);

// The grace period for ranks that cannot or must not save: ranks of a gang that lost a member, and
// ranks of an older attempt. Such ranks only need time to write their final output, because the
// whole gang must have ended within 5 s.
inline constexpr int64_t kUnwantedGraceMs = 3000;

// Returns the milliseconds between SIGTERM and SIGKILL when the live attempt is stopped.
int64_t StopGraceMs(const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_JOB_TIMING_H_
