#include "controller/core/state/attempts/work_at_risk.h"

#include <algorithm>

#include "controller/core/state/attempts/starting_point.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {

WorkAtRisk WorkAtRiskOf(const v1::Job& job, const v1::Attempt& attempt, int64_t last_step) {
  WorkAtRisk work;
  if (!ProgramRulesOf(job.spec()).saves) {
    work.saved_step = last_step;
    return work;
  }
  const StartingPoint newest = NextStartingPoint(job);
  // If the program resumed on its own, the program's checkpoint is unknown. The attempt's first
  // step shows the step of that checkpoint.
  work.saved_step = std::max<int64_t>(newest.step, attempt.first_step() - 1);
  work.steps = std::max<int64_t>(0, last_step - work.saved_step);
  if (work.steps == 0) return work;
  work.since_ms = attempt.started_time_ms();
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (checkpoint.path() != newest.path) continue;
    work.since_ms = std::max(work.since_ms, checkpoint.time_ms());
  }
  return work;
}

}  // namespace trainyard::controller
