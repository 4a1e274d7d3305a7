// CPU cores and memory of nodes, and how much of them ranks request. The amounts are bookkeeping:
// workers neither bind ranks to cores nor limit their memory.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_NODES_HOST_CAPACITY_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_NODES_HOST_CAPACITY_H_

#include <string>

#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/state/host_amount.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Returns the amount that the worker reported. 0 if it reported none.
HostAmount HostOf(const v1::Node& node);

// Returns the amount that the rank in the slot requests.
HostAmount HostRequestOf(const v1::SlotUse& use);

// Returns true if the node could hold one node of the gang if all slots were free. Does not
// consider the state of the node.
bool CouldHold(const v1::Node& node, const GangShape& shape);

// Returns, for example, "2 nodes with 4 gpu slots each, and 8 CPUs and 64 GiB of memory per rank".
std::string GangText(const GangShape& shape);

// Returns, for example, "8 CPUs and 64 GiB of memory". Resources of which `amount` has none are
// left out.
std::string HostText(const HostAmount& amount);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_NODES_HOST_CAPACITY_H_
