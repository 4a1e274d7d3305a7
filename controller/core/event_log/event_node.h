// Finds the node that an event changes.
#ifndef TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_NODE_H_
#define TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_NODE_H_

#include <string>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the id of the node whose state, health or slots the event changes. Empty if the event
// changes no node, or if it changes the slots of all nodes of a gang.
std::string ChangedNode(const v1::Event& event);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_NODE_H_
