// States of jobs as every program reads them.
#ifndef TRAINYARD_PROTO_SUPPORT_JOB_STATE_H_
#define TRAINYARD_PROTO_SUPPORT_JOB_STATE_H_

#include "trainyard/v1/job.pb.h"

namespace trainyard {

// True for the states that a job never leaves. controller/core/state/job_state_machine.h proves at
// compile time that no legal transition leads out of them, and that one leads out of every other
// state.
constexpr bool HasEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_STOPPED;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_JOB_STATE_H_
