// Computes the events that are due because time has passed or capacity is free.
#ifndef TRAINYARD_CONTROLLER_CORE_RECONCILE_H_
#define TRAINYARD_CONTROLLER_CORE_RECONCILE_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

struct Plan {
  // The events that are due. The events of the schedule's placements come last. Empty if nothing is
  // due.
  std::vector<v1::Event> events;
  // The schedule. Complete only if `events` is empty.
  Schedule schedule;
};

// Computes the events that are due: suspected, returned, lost and removed nodes; verdicts; ended
// attempts and jobs; placements. Equal input gives equal output. The events of one call may make
// other events due: a lost node fails its attempts, and an ended job frees slots. Therefore the
// caller applies the events and calls again until nothing is due.
Plan Reconcile(const ClusterState& state, const Observations& observations,
               const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_RECONCILE_H_
