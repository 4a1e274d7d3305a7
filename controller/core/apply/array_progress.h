// Effects of events on arrays: elements that become jobs, elements that end, and halvings.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_ARRAY_PROGRESS_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_ARRAY_PROGRESS_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The submitted job is an array or an element of one. Does nothing for other jobs.
void TakeElement(const v1::JobSubmitted& submitted, ClusterState& state);

// Records the outcome of an element in its array. Does nothing for other jobs.
void EndElement(const v1::Job& ended, ClusterState& state);

// An element could not become a job. Counts as a failed element.
void TakeRefused(const v1::ArrayElementRefused& refused, ClusterState& state);

void TakeHalved(const v1::ArrayHalved& halved, ClusterState& state);

// A user stopped the array. No further element becomes a job. The array ends after its elements.
void TakeArrayStop(const v1::Event& event, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_ARRAY_PROGRESS_H_
