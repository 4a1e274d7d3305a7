// Applies events about nodes to the state.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_NODE_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_NODE_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Applies a Node... or FactsReceived event, and updates the capacity history of the cluster. Used
// only by Apply.
void ApplyToNode(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_APPLY_NODE_H_
