// What time and free capacity decide.
#ifndef TRAINYARD_CONTROLLER_CORE_PLAN_H_
#define TRAINYARD_CONTROLLER_CORE_PLAN_H_

#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/decide.h"
#include "controller/core/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the events that are due: placements, nodes suspected, returned and lost, verdicts, attempts
// ended, jobs ended. Same input, same output; empty when nothing is due. The caller applies them and
// may call again: a second call right after returns nothing.
std::vector<v1::Event> Plan(const ClusterState& state, const Observations& observations,
                            const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_PLAN_H_
