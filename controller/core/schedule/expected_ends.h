// When running jobs are expected to free their slots.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_EXPECTED_ENDS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_EXPECTED_ENDS_H_

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/head_promise.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns a function of the number of a job with a live attempt or with reserved slots. Its result
// is the time at which the slots are free, at least a millisecond from now:
// - the time that ExpectedEnd (observations/expected_end.h) predicts, if it can;
// - kUnknownRunMs from the start of the attempt otherwise;
// - kNever for slots that a job without a live attempt keeps.
// `state` and `observations` must outlive the function and not change before its last call.
ExpectedEnds ExpectedEndsOf(const ClusterState& state, const Observations& observations,
                            Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_EXPECTED_ENDS_H_
