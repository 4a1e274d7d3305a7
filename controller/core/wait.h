// Waits by the wall clock, which may be set back while they run.
#ifndef TRAINYARD_CONTROLLER_CORE_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_WAIT_H_

#include "controller/core/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// True when a wait that began at `begin_ms` and lasts until `end_ms` is over. A time before its
// begin means that the clock was set back: the rest of the wait is unknown, and it counts as over
// rather than last as long as the clock was set back.
inline bool HasPassed(Timestamp begin_ms, Timestamp end_ms, Timestamp now) {
  return now >= end_ms || now < begin_ms;
}

// True when the job is in no backoff. The backoff begins with the end of the newest attempt.
inline bool IsDue(const JobEntry& entry, Timestamp now) {
  const v1::Attempt* ended = NewestAttempt(entry);
  return HasPassed(ended == nullptr ? 0 : ended->ended_time_ms(), entry.job.not_before_ms(), now);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_WAIT_H_
