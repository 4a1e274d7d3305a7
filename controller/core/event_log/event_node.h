// Finds the node that an event changes.
#ifndef TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_NODE_H_
#define TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_NODE_H_

#include <string>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the id of the node whose state, health or slots the event changes. Empty if there is
// none, and for an event about an attempt that changes slots on all nodes of the gang.
std::string ChangedNode(const v1::Event& event);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_NODE_H_
