// Elements of arrays that become jobs, and arrays that end.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_ELEMENT_JOBS_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_ELEMENT_JOBS_H_

#include <vector>

#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The maximum number of elements that become jobs in one call, because each of them copies a spec.
inline constexpr int kElementsPerPass = 64;

// Returns the submissions of elements that can start now, and the ends of arrays without further
// elements.
//
// An array has no job in the queue beyond those that are about to start. While one of its elements
// waits for slots, no other element becomes a job. Otherwise as many elements become jobs as were
// placed at the time `now`, and at least one, within `max_concurrent`. The passes of one tick
// therefore fill a free cluster in a number of passes that is logarithmic in its slots.
std::vector<v1::Event> ArrayEventsDue(const ClusterState& state, const CoreOptions& options,
                                      Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_ELEMENT_JOBS_H_
