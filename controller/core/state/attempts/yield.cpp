#include "controller/core/state/attempts/yield.h"

#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/heal_time.h"
#include "controller/core/support/controller_event.h"

namespace trainyard::controller {

bool CanYield(const JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  return live != nullptr && live->state() != v1::ATTEMPT_STATE_STOPPING &&
         HealingSince(*live) == 0 && entry.first_failure_ms == 0 && !GangSucceeded(entry);
}

std::optional<v1::Event> YieldEvent(const JobEntry& entry, const v1::Yield& yield, Timestamp now) {
  if (!CanYield(entry)) return std::nullopt;
  v1::Event event = ControllerEvent(now);
  v1::AttemptYielded& yielded = *event.mutable_attempt_yielded();
  yielded.set_job_id(entry.job.id());
  yielded.set_attempt(LiveAttempt(entry)->number());
  *yielded.mutable_yield() = yield;
  return event;
}

}  // namespace trainyard::controller
