// Events that time and free capacity make due.
#ifndef TRAINYARD_CONTROLLER_CORE_RECONCILE_H_
#define TRAINYARD_CONTROLLER_CORE_RECONCILE_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Placements that one call returns at most.
inline constexpr int kPlacementsPerPlan = 1024;

// Returns the events that are due: nodes suspected, returned and lost, verdicts, attempts ended,
// jobs ended, placements. Same input, same output; empty when nothing is due. One call judges one
// state, and its events may make others due (a lost node fails its attempts, an ended job frees
// slots): the caller applies them and calls again until nothing is returned.
std::vector<v1::Event> Reconcile(const ClusterState& state, const Observations& observations,
                                 const CoreOptions& options, Timestamp now);

// Layouts that jobs at the head of the queue wait for, in a state for which Reconcile returns
// nothing.
std::vector<LayoutQuestion> LayoutQuestionsDue(const ClusterState& state,
                                               const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_RECONCILE_H_
