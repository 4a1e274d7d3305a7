// Describes changes of the size of elastic jobs.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_SIZE_CHANGE_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_SIZE_CHANGE_H_

#include <string>

#include "controller/core/schedule/placement.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Returns the change from the newest attempt to the gang and its cause, such as "shrunk from 8 to 6
// nodes: node gpu07 is lost". Empty for the first attempt, without a change, and for a job that is
// not elastic.
std::string SizeChangeText(const ClusterState& state, const JobEntry& entry, const Gang& gang);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_SIZE_CHANGE_H_
