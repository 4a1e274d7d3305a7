// Finds the completed steps of an attempt that no checkpoint contains.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_WORK_AT_RISK_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_WORK_AT_RISK_H_

#include <cstdint>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The steps that are lost if the attempt ends without another checkpoint.
struct WorkAtRisk {
  int64_t steps = 0;
  // The newest step that a checkpoint contains. If the job has no checkpoint, the step before the
  // first step of the attempt, usually 0.
  int64_t saved_step = 0;
  // The time of the newest checkpoint, or the start of the attempt if the attempt started later. 0
  // if no step is at risk.
  Timestamp since_ms = 0;
};

// `last_step`: the newest completed step of the attempt.
WorkAtRisk WorkAtRiskOf(const v1::Job& job, const v1::Attempt& attempt, int64_t last_step);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_WORK_AT_RISK_H_
