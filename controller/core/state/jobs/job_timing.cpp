#include "controller/core/state/jobs/job_timing.h"

#include <algorithm>

#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/support/wait.h"

namespace trainyard::controller {

bool IsDue(const JobEntry& entry, Timestamp now) {
  const v1::Attempt* ended = NewestAttempt(entry);
  return HasPassed(ended == nullptr ? 0 : ended->ended_time_ms(), entry.job.not_before_ms(), now);
}

Timestamp QueuedSince(const v1::Job& job) {
  const int attempts = job.attempts_size();
  Timestamp since = job.paused_ms() + (attempts == 0 ? job.submitted_time_ms()
                                                     : job.attempts(attempts - 1).ended_time_ms());
  for (const v1::Prerequisite& prerequisite : job.after()) {
    since = std::max(since, MetTime(prerequisite));
  }
  return since;
}

int64_t StopGraceMs(const JobEntry& entry) {
  if (entry.kill_requested) return 0;
  const int64_t grace_ms = ToMs(entry.job.spec().stop_grace());
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const bool whole_gang_saves =
      WasAskedToSave(attempt) && entry.first_failure_ms == 0 && !attempt.has_verdict();
  return whole_gang_saves ? grace_ms : std::min(grace_ms, kUnwantedGraceMs);
}

}  // namespace trainyard::controller
