// Interprets job states for every program.
#ifndef TRAINYARD_PROTO_SUPPORT_JOB_STATE_H_
#define TRAINYARD_PROTO_SUPPORT_JOB_STATE_H_

#include "trainyard/v1/job.pb.h"

namespace trainyard {

// True for terminal states. controller/core/state/jobs/job_state_machine.h proves at compile time
// that no legal transition leaves a terminal state, and that every other state has a legal
// transition.
constexpr bool HasEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_STOPPED;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_JOB_STATE_H_
