// Events that are due because of time or free capacity.
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

// Limit on placements from the queue per call: the walk ends once its pass has caused this many
// events. Recovering jobs that take only their own slots are not limited.
inline constexpr int kPlacementsPerPlan = 1024;

// Returns the events that are due: nodes suspected, returned, lost and removed; verdicts; attempts
// and jobs ended; placements. Equal input gives equal output; empty if nothing is due. One call
// judges one state. Its events may make others due: a lost node fails its attempts, and an ended
// job frees slots. The caller therefore applies them and calls again until nothing is returned.
std::vector<v1::Event> Reconcile(const ClusterState& state, const Observations& observations,
                                 const CoreOptions& options, Timestamp now);

// Layout choices that jobs at the head of the queue wait for. Call it for a state for which
// Reconcile returns nothing.
std::vector<LayoutQuestion> LayoutQuestionsDue(const ClusterState& state,
                                               const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_RECONCILE_H_
