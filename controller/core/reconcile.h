// Events that are due because of time or free capacity.
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
  // The events that are due, those of the schedule's placements last. Empty if nothing is due.
  std::vector<v1::Event> events;
  // Complete if `events` is empty.
  Schedule schedule;
};

// Computes the events that are due: nodes suspected, returned, lost and removed; verdicts; attempts
// and jobs ended; placements. Equal input gives equal output. One call judges only the given state.
// Its events may make others due: a lost node fails its attempts, and an ended job frees slots. The
// caller therefore applies them and calls again until nothing is due.
Plan Reconcile(const ClusterState& state, const Observations& observations,
               const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_RECONCILE_H_
