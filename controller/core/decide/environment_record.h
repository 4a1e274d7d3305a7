// Decides which reports about the software of an attempt are recorded.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_ENVIRONMENT_RECORD_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_ENVIRONMENT_RECORD_H_

#include <vector>

#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the event that records the software, based on `event`, which has the time and the actor.
// Returns no event for the second report of an attempt and for an attempt older than the recorded
// one: the record of a job has the software of one attempt, so that its size is bounded.
std::vector<v1::Event> DecideEnvironment(const JobEntry& entry, const ReceiveTelemetry& request,
                                         v1::Event event);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_ENVIRONMENT_RECORD_H_
