// When running jobs are expected to free their slots.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_EXPECTED_ENDS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_EXPECTED_ENDS_H_

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/head_promise.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns a function of the number of a job with a live attempt or with reserved slots. Its result
// is the time at which the slots are free:
// - the end of the grace period for an attempt that is stopping, but at least a millisecond from
//   now;
// - the earlier of the time limit and the end of the steps that are left, if one is known;
// - kUnknownRunMs from the start of the attempt otherwise;
// - kNever for slots that a job without a live attempt keeps.
// `state` and `observations` must outlive the function.
ExpectedEnd ExpectedEndOf(const ClusterState& state, const Observations& observations,
                          Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_EXPECTED_ENDS_H_
